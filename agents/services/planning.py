"""What comes next, from what is recorded and nothing else: the same steps always lead to the same next one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from agents import tools
from agents.llm.base import Passage, Proposal
from agents.normalise import visible
from agents.tools import Tool
from agents.types import StepKind
from kernel.context import Actor

# A run always needs room to plan, act and say how it ended.
RESERVED_STEPS: Final = 3
MAX_KNOWN: Final = 12
# In the arguments of a step: the actor from outside whose words it holds.
PROPOSED_BY: Final = "proposed_by"


@dataclass(frozen=True)
class Recorded:
    """A step as it was recorded."""

    position: int
    kind: StepKind
    arguments: dict[str, Any]
    result: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The one thing to do with a mail: a tool of the registry and its arguments."""

    tool: Tool
    arguments: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        tool = self.tool
        return {
            "tool": tool.name,
            "permission": tool.permission,
            "access": tool.access.value,
            "risk": tool.risk.value,
            "arguments": self.arguments,
        }


def following(steps: Sequence[Recorded]) -> StepKind:
    """The kind of the next step. An action that waits is taken up again, not repeated."""
    if not steps:
        return StepKind.CONTEXT
    last = steps[-1]
    if last.kind == StepKind.CONTEXT:
        return StepKind.KNOWLEDGE
    if last.kind == StepKind.KNOWLEDGE:
        return StepKind.MODEL
    if last.kind == StepKind.MODEL:
        return StepKind.KNOWLEDGE if proposal(steps).search else StepKind.PLAN
    return StepKind.ACTION


def proposal(steps: Sequence[Recorded]) -> Proposal:
    """What the model said last."""
    last = next(step for step in reversed(steps) if step.kind == StepKind.MODEL)
    return Proposal.of_json(last.result["proposal"])


def proposer(steps: Sequence[Recorded]) -> Actor | None:
    """The caller from outside whose words took the place of the model's, when there was one."""
    named = next((step.arguments[PROPOSED_BY] for step in steps if PROPOSED_BY in step.arguments), None)
    return Actor(**named) if named else None


def searches(steps: Sequence[Recorded]) -> list[str]:
    """What the model has searched the knowledge for, beside the mail itself."""
    return [step.arguments["query"] for step in steps if step.kind == StepKind.KNOWLEDGE and "query" in step.arguments]


def passages(steps: Sequence[Recorded]) -> list[Passage]:
    """All passages that were found, the newest search first, each once."""
    known: dict[str, Passage] = {}
    for step in reversed([step for step in steps if step.kind == StepKind.KNOWLEDGE]):
        for found in step.result["passages"]:
            known.setdefault(found["id"], Passage(**{name: found[name] for name in Passage.__dataclass_fields__}))
    return list(known.values())[:MAX_KNOWN]


def is_repeated(steps: Sequence[Recorded], query: str) -> bool:
    """Whether the model searches for what it has searched for before."""
    return " ".join(query.lower().split()) in {" ".join(old.lower().split()) for old in searches(steps)}


def plan(wish: Proposal, *, email_id: UUID) -> Plan:
    """The proposal as a tool with arguments. Its text is cleaned here, so that what is shown is what is sent."""
    text = visible(wish.answer).strip()
    if text and len(text) <= tools.MAX_ANSWER:
        return Plan(tools.REPLY, {"email_id": str(email_id), "text": text})
    reason = visible(wish.ask_person).strip() or ("the answer is too long" if text else "the model had no answer")
    return Plan(tools.ASK_PERSON, {"reason": reason[:500]})


def planned(steps: Sequence[Recorded]) -> Plan:
    """The plan as it was recorded; the tool is looked up anew, since only the registry is trusted."""
    last = next(step for step in reversed(steps) if step.kind == StepKind.PLAN)
    return Plan(tools.get(last.result["tool"]), last.result["arguments"])

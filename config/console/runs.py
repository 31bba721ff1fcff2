"""What an agent did about a mail, gathered for the eye: steps, what it wanted, what policy said, what became of it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from agents.models import ActionIntent, AgentRun, ApprovalRequest, ExecutionStep
from agents.types import ApprovalState, StepKind
from inbox.models import Entry

# Shown in other places of the question.
_ELSEWHERE = ("action", "asked_text", "email_id")
_TEXT_KEYS = ("text", "body_text", "body", "reply", "message")


@dataclass
class Asked:
    """One question to a person, with what exactly was asked."""

    row: ApprovalRequest
    text: str
    facts: dict[str, Any]
    is_open: bool
    # The agent's words, where a person changed them.
    before: str = ""


@dataclass
class Wanted:
    """An effect outside, what policy said of it, who decided, and the mail that carries it."""

    row: ActionIntent
    text: str
    asked: list[Asked]
    entry: Entry | None = None


@dataclass
class Run:
    """One run with all that belongs to it."""

    row: AgentRun
    steps: list[ExecutionStep] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)

    @property
    def open_question(self) -> Asked | None:
        return next((asked for wanted in self.wanted for asked in wanted.asked if asked.is_open), None)

    @property
    def plan(self) -> ExecutionStep | None:
        return next((step for step in self.steps if step.kind == StepKind.PLAN), None)

    @property
    def seconds(self) -> float | None:
        run = self.row.execution
        return (run.finished_at - run.started_at).total_seconds() if run.started_at and run.finished_at else None


def text_of(content: Any) -> str:
    """The words that a customer would read, in whatever key the tool keeps them."""
    if not isinstance(content, dict):
        return ""
    return next((str(content[key]) for key in _TEXT_KEYS if content.get(key)), "")


def asked_of(row: ApprovalRequest, now: datetime) -> Asked:
    """A question ready to be shown; the text apart, the other facts as a short list."""
    content = row.snapshot if isinstance(row.snapshot, dict) else {}
    facts = {key: value for key, value in content.items() if key not in (*_TEXT_KEYS, *_ELSEWHERE) and value}
    is_open = row.state == ApprovalState.PENDING and row.expires_at > now
    return Asked(row=row, text=text_of(content), facts=facts, is_open=is_open, before=content.get("asked_text", ""))


def gather(*, email_ids: Iterable[UUID] = (), run_id: UUID | None = None, now: datetime) -> list[Run]:
    """The runs about these mails, or one run; five queries however many there are."""
    rows = AgentRun.objects.select_related("agent", "version", "execution").order_by("created_at", "id")
    rows = rows.filter(id=run_id) if run_id else rows.filter(email_id__in=list(email_ids))
    runs = {row.execution_id: Run(row) for row in rows}
    if not runs:
        return []
    for step in ExecutionStep.objects.filter(execution_id__in=runs).order_by("position"):
        runs[step.execution_id].steps.append(step)
    intents = list(ActionIntent.objects.filter(execution_id__in=runs).order_by("created_at", "id"))
    questions: dict[UUID, list[Asked]] = defaultdict(list)
    for row in ApprovalRequest.objects.filter(intent__in=intents).order_by("created_at", "id"):
        questions[row.intent_id].append(asked_of(row, now))
    carriers = Entry.objects.filter(id__in=[intent.entry_id for intent in intents if intent.entry_id])
    entries = {entry.id: entry for entry in carriers.select_related("outbound").defer("body_html", "outbound__raw")}
    for intent in intents:
        wanted = Wanted(
            intent,
            text_of(intent.arguments),
            questions[intent.id],
            entries.get(intent.entry_id) if intent.entry_id else None,
        )
        runs[intent.execution_id].wanted.append(wanted)
    return list(runs.values())

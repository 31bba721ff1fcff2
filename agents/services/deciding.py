"""May an effect happen by itself? Decided from the agent's autonomy and rules that a mail can only make stricter. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agents.facts import foreign
from agents.normalise import hidden_count, highest, tells, topics
from agents.types import Autonomy, Decision, Risk

# Part of what an approval is bound to: when these rules change, so does the number.
VERSION: Final = 4

_ALLOWED: Final = {
    Autonomy.DRAFT: frozenset[Risk](),
    Autonomy.SUPERVISED: frozenset({Risk.LOW}),
    Autonomy.AUTONOMOUS: frozenset({Risk.LOW, Risk.MEDIUM}),
}
_MAX_HIDDEN = 3


@dataclass(frozen=True)
class Question:
    """All that a decision depends on. `trusted` is what the company itself wrote; `mail_text` is a stranger's."""

    autonomy: Autonomy
    tool_risk: Risk
    answer: str
    mail_text: str
    trusted: Sequence[str]
    secrets: Sequence[str]
    reply_to_differs: bool
    sender_doubted: bool
    may_auto_answer: bool
    # Why a person shall look in any case: the caller's wish, or the inbox's policy.
    insist: str = ""


@dataclass(frozen=True)
class Verdict:
    decision: Decision
    risk: Risk
    reason: str


def least(own: Autonomy, cap: str | None) -> Autonomy:
    """An agent's own autonomy, as far as its inbox allows it."""
    order = list(Autonomy)
    return min(own, Autonomy(cap) if cap else own, key=order.index)


def decide(question: Question) -> Verdict:
    """Allow, ask or deny, with the risk and the reason for people."""
    delicate = topics(question.mail_text)
    risk = highest(question.tool_risk, *(level for _, level in delicate))
    if not question.may_auto_answer:
        return Verdict(Decision.DENY, risk, "mail of this kind is never answered automatically")
    doubts = _doubts(question)
    if doubts:
        return Verdict(Decision.ASK, highest(risk, Risk.MEDIUM), "; ".join(doubts)[:300])
    if question.insist:
        return Verdict(Decision.ASK, risk, question.insist[:300])
    if risk in _ALLOWED[question.autonomy]:
        return Verdict(Decision.ALLOW, risk, f"{risk.value} risk, within {question.autonomy.value} autonomy")
    if question.autonomy == Autonomy.DRAFT:
        return Verdict(Decision.ASK, risk, "this agent only drafts: a person sees each answer first")
    about = f" ({', '.join(name for name, _ in delicate)})" if delicate else ""
    return Verdict(Decision.ASK, risk, f"{risk.value} risk{about} is above {question.autonomy.value} autonomy"[:300])


def _doubts(question: Question) -> list[str]:
    """What always needs a person, however autonomous the agent is."""
    found = []
    if question.sender_doubted:
        found.append("nobody vouches for the sender (DMARC)")
    if question.reply_to_differs:
        found.append("the reply would go to another domain than the sender's")
    strange = foreign(question.answer, question.trusted)
    if strange:
        found.append(f"the answer names what the company's own texts do not: {', '.join(strange[:5])}")
    if any(tells(question.answer, secret) for secret in question.secrets):
        found.append("the answer repeats the agent's instructions")
    if hidden_count(question.mail_text) > _MAX_HIDDEN:
        found.append("the mail has hidden characters")
    return found

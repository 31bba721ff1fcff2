"""What lets an agent answer from an inbox at all: asked in the same words at every door.

At receipt, before there is a run; when a caller proposes words; before a model is paid; and once more in the transaction
that claims the effect. A run may wait for hours (a backlog, a retry, a person, an emergency stop), and what people
switched off meanwhile stays off. It is read without a lock: a change that commits while an effect is being queued comes
after it.
"""

from typing import Final

from django.db.models import TextChoices

from agents.models import Agent
from agents.types import AgentStatus
from inbox.queries.conversations import MailFacts


class Lack(TextChoices):
    """What is missing. The value is for the record, the label for people."""

    NO_AGENT = "no_agent", "the inbox has no agent"
    OTHER_AGENT = "other_agent", "the inbox has another agent now"
    NOT_ACTIVE = "agent_not_active", "the agent of the inbox is paused or deleted"
    INACTIVE_INBOX = "inactive_inbox", "the inbox is not active"
    POLICY = "policy_says_no_agent", "the policy of the inbox lets no agent answer by itself"


# With these, words that a caller from outside has written may still be sent, once a person has approved them: then it is
# a person who answers, and no agent.
LEFT_TO_PEOPLE: Final = frozenset({Lack.POLICY})


def lack(mail: MailFacts, agent: Agent | None) -> Lack | None:
    """Why `agent` may not answer this mail, by its inbox as it is now; None when it may, as far as its autonomy goes."""
    if mail.agent_id is None:
        return Lack.NO_AGENT
    if agent is not None and agent.id != mail.agent_id:
        return Lack.OTHER_AGENT
    if agent is None or agent.deleted_at is not None or agent.status != AgentStatus.ACTIVE:
        return Lack.NOT_ACTIVE
    if not mail.inbox_active:
        return Lack.INACTIVE_INBOX
    return None if mail.policy.lets_agent_work else Lack.POLICY

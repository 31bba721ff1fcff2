"""What became of each mail, read from the rows; and whether anything was lost or doubled."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.models import ActionIntent, AgentRun
from agents.types import LIVE, ExecutionStatus, IntentStatus
from config.demo.delivery import Sample
from inbox.models import Email, Entry, InboundMessage, OutboundMessage
from inbox.types import EmailState, MessageState, SendState
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces
from webhooks.models import WebhookDelivery

_UNFINISHED = (EmailState.RECEIVED, EmailState.STORED, EmailState.PARSED, EmailState.QUEUED, EmailState.RUNNING)


@dataclass(frozen=True)
class Line:
    """One mail in one inbox: for the table."""

    file: str
    way: str
    mail_class: str
    state: str
    why: str
    thread: str = ""


@dataclass
class Outcome:
    """The counts of a run."""

    lines: list[Line] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)


def read(deliveries: Sequence[Sample], *, since: datetime) -> Outcome:
    """Look at everything that the deliveries have become so far."""
    ids = {sample.provider_id: sample for sample in deliveries if not sample.is_repeat}
    outcome = Outcome()
    with in_all_workspaces("the demo looks at both of its workspaces"):
        messages = list(InboundMessage.objects.filter(provider_message_id__in=ids).defer("raw"))
        emails = list(Email.objects.filter(inbound_message__in=messages).select_related("entry", "inbox"))
        runs = {
            run.email_id: run for run in AgentRun.objects.filter(email__in=emails).select_related("execution", "agent")
        }
        intents = list(ActionIntent.objects.filter(execution__in=[run.execution_id for run in runs.values()]))
        replies = list(OutboundMessage.objects.filter(entry__in_reply_to__email__in=emails).defer("raw"))
        entries = Counter(Entry.objects.filter(email__in=emails).values_list("email_id", flat=True))
        outcome.waiting = _waiting(messages, emails, runs, replies)
        outcome.lines = _lines(ids, messages, emails, runs)
        hooks = WebhookDelivery.objects.filter(created_at__gte=since)
        repeats = sum(sample.is_repeat for sample in deliveries)
        outcome.counts = {
            "received": len(deliveries),
            "entries": sum(entries.values()),
            "threads": len({email.entry.thread_id for email in emails if hasattr(email, "entry")}),
            "agent_runs": len(runs),
            "replies_sent": sum(reply.state == SendState.SENT for reply in replies),
            "approvals_waiting": sum(intent.status == IntentStatus.WAITING_APPROVAL for intent in intents),
            "quarantined": sum(message.state == MessageState.QUARANTINED for message in messages)
            + sum(email.state == EmailState.QUARANTINED for email in emails if not _is_held(email, messages)),
            "ignored": sum(email.state == EmailState.IGNORED for email in emails),
            "duplicates": sum(message.deliveries - 1 for message in messages),
            "webhooks_delivered": hooks.filter(status="delivered").count(),
            "lost": len(ids) - len({message.provider_message_id for message in messages}) + _unfiled(emails, entries),
            "doubled": sum(count - 1 for count in entries.values())
            + sum(count - 1 for count in Counter(r.entry.in_reply_to_id for r in _with_entries(replies)).values())
            + max(0, repeats - sum(message.deliveries - 1 for message in messages)),
        }
    return outcome


def _with_entries(replies: Sequence[OutboundMessage]) -> list[OutboundMessage]:
    return list(OutboundMessage.objects.filter(id__in=[reply.id for reply in replies]).select_related("entry"))


def _is_held(email: Email, messages: Sequence[InboundMessage]) -> bool:
    """Quarantined together with its message: counted there."""
    return any(m.id == email.inbound_message_id and m.state == MessageState.QUARANTINED for m in messages)


def _unfiled(emails: Sequence[Email], entries: Counter[Any]) -> int:
    """Mails that ended without an entry although nothing says why."""
    silent = (EmailState.QUARANTINED, EmailState.IGNORED)
    return sum(1 for email in emails if email.id not in entries and email.state not in silent)


def _waiting(
    messages: Sequence[InboundMessage],
    emails: Sequence[Email],
    runs: dict[Any, AgentRun],
    replies: Sequence[OutboundMessage],
) -> list[str]:
    """What is still on its way, as words."""
    moving = {*LIVE} - {ExecutionStatus.WAITING_APPROVAL}
    waiting = ["message" for message in messages if message.state == MessageState.STORED]
    waiting += ["mail" for email in emails if email.state in _UNFINISHED]
    waiting += ["run" for run in runs.values() if run.execution.status in moving]
    waiting += ["reply" for reply in replies if reply.state in (SendState.QUEUED, SendState.SENDING)]
    if OutboxEvent.objects.filter(published_at=None, parked_at=None).exists():
        waiting.append("events")
    if WebhookDelivery.objects.filter(status="pending", attempts=0).exists():
        waiting.append("webhooks")
    return waiting


def _lines(
    ids: dict[str, Sample],
    messages: Sequence[InboundMessage],
    emails: Sequence[Email],
    runs: dict[Any, AgentRun],
) -> list[Line]:
    lines = []
    by_message: dict[Any, list[Email]] = {}
    for email in emails:
        by_message.setdefault(email.inbound_message_id, []).append(email)
    for message in messages:
        sample = ids[message.provider_message_id]
        lines += [_line(sample, message, email, runs.get(email.id)) for email in by_message.get(message.id, [])]
        if message.id not in by_message:
            lines.append(Line(sample.file, sample.way, "", message.state, message.reason))
    return sorted(lines, key=lambda line: line.file)


def _line(sample: Sample, message: InboundMessage, email: Email, run: AgentRun | None) -> Line:
    why = email.state_reason or message.reason or email.class_reason
    if run is not None:
        model = run.execution.model if run.execution.used_language_model else "no language model"
        why = f"{run.execution.reason or run.execution.outcome or run.execution.status} ({model})"
    thread = str(email.entry.thread_id)[:8] if hasattr(email, "entry") else ""
    return Line(sample.file, sample.way, email.mail_class, email.state, why, thread)

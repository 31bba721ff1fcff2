"""Take delivery reports that came as mail: news of the outgoing entry that they are about (IS-4).

A report counts for a message that this inbox has sent, named by our signed Message-ID or by the id that a provider gave it,
and for those of its recipients whom the message went to. Whoever forwards is told of by the address behind: that is the
recipient's, where there was one only and the report has our signed id. All else of it is mail like any other, and changes
nothing.
"""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from inbox.channels import reports
from inbox.mime.types import BounceReport, FailedRecipient, ParsedMail
from inbox.models import MessageReference, OutboundMessage
from inbox.normalise import lenient
from inbox.queries.threading import Decision, reference_hash
from inbox.services import delivery_news
from inbox.services.delivery_news import Callback
from inbox.tokens import own_entry
from inbox.types import Confidence, ReferenceKind, Rule
from kernel import clock
from kernel.transactions import in_workspace

_MAX_IDS = 20


def take(*, workspace_id: UUID, inbox_id: UUID, message_id: UUID, mail: ParsedMail) -> Decision | None:
    """Keep what a report tells of a message of ours, and say that it belongs beside it; None when it tells nothing.

    `message_id` is the report's own delivery: taken again, it is the same news.
    """
    report = mail.bounce
    if report is None:
        return None
    named = [report.original_message_id or "", *mail.in_reply_to, *reversed(mail.references)]
    with in_workspace(workspace_id):
        message, cited = _about([name for name in named if name][:_MAX_IDS], inbox_id)
    if message is None:
        return None
    signed = own_entry(cited) is not None
    told = _told(message, report, is_signed=signed)
    if not told:
        return None
    _tell(message, report, told, message_id)
    return Decision(
        message.entry.thread_id,
        message.entry_id,
        Rule.DELIVERY_REPORT,
        Confidence.CERTAIN if signed else Confidence.HIGH,
        {"cited": cited, "recipients": [item.address for item in told][:5]},
        message.entry_id,
    )


def _about(cited: Sequence[str], inbox_id: UUID) -> tuple[OutboundMessage | None, str]:
    """The message of the inbox that one of the ids names."""
    rows = OutboundMessage.objects.filter(inbox_id=inbox_id).select_related("entry").defer("raw")
    for name in cited:
        entry_id = own_entry(name)
        if entry_id is None:
            carriers = MessageReference.objects.filter(
                inbox_id=inbox_id, message_id_hash=reference_hash(name), kind=ReferenceKind.REWRITTEN
            )
            entry_id = carriers.values_list("entry_id", flat=True).first()
        found = rows.filter(entry_id=entry_id).first() if entry_id else None
        if found is not None:
            return found, name
    return None, ""


def _told(message: OutboundMessage, report: BounceReport, *, is_signed: bool) -> list[FailedRecipient]:
    """What it tells of those whom the message went to, by their own addresses."""
    ours = {lenient(address) for address in message.envelope_to}
    told = [_canonical(item) for item in report.recipients if lenient(item.address) in ours]
    if told or not is_signed or len(ours) != 1 or len(report.recipients) != 1:
        return told
    (item,) = report.recipients
    # Who complains is not known by where a mail was passed on to.
    if item.action == "complaint":
        return []
    return [replace(_canonical(item), address=ours.pop())]


def _canonical(item: FailedRecipient) -> FailedRecipient:
    return FailedRecipient(lenient(item.address), item.action, item.status, item.diagnostic)


def _tell(message: OutboundMessage, report: BounceReport, told: list[FailedRecipient], report_id: UUID) -> None:
    for (kind, is_final), items in reports.groups(told).items():
        content = reports.payload(
            kind=kind,
            is_final=is_final,
            entry_id=message.entry_id,
            report_id=report_id,
            at=clock.now(),
            mta=report.reporting_mta or "",
            told=items,
        )
        news = reports.read(content)
        assert news is not None
        callback = Callback(
            event_id=f"{report_id}:{kind}:{is_final}",
            signature="message id",
            kind=kind,
            payload=content,
            key=news.key,
            provider=reports.PROVIDER,
        )
        delivery_news.take(callback, news)

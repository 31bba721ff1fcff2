"""News of what became of sent mail: kept first, then written onto the entry that it is about.

News comes late, repeated and in any order. So each fact is kept once (by the provider's id and by its content), an entry
and each of its recipients only ever move on (DeliveryState), and what is about no message of ours stays to be seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from audit.services import record
from contacts.services import suppressing
from contacts.types import SuppressionReason
from inbox.channels import reports, ses_events
from inbox.channels.ses_events import News, RecipientNews
from inbox.events import DELIVERY_NEWS, ProviderEventReceived
from inbox.models import Entry, EntryDeliveryEvent, EntryRecipient, OutboundMessage
from inbox.services import sending
from inbox.types import DeliveryState
from kernel import clock, context, nudge, outbox
from kernel.transactions import current_unit, in_all_workspaces
from webhooks.services import callbacks
from webhooks.types import ProviderEventStatus as Status

PROVIDER = "ses"
_READERS: dict[str, Callable[[dict[str, Any]], News | None]] = {
    PROVIDER: ses_events.read,
    reports.PROVIDER: reports.read,
}


@dataclass(frozen=True)
class Callback:
    """A provider's message that was proven genuine. `key` names its content, in whatever envelope."""

    event_id: str
    signature: str
    kind: str
    payload: dict[str, Any]
    key: bytes
    provider: str = PROVIDER


def take(callback: Callback, news: News) -> str:
    """Keep news, for the workspace of its message, and start its processing; `accepted`, `unmatched` or `duplicate`."""
    outcome = _keep(callback, ref=news.message_id, tag=news.tag, entry_id=news.entry_id)
    return "accepted" if outcome == Status.RECEIVED else outcome


def keep(callback: Callback, *, reason: str) -> None:
    """Keep what nothing follows from."""
    _keep(callback, status=Status.IGNORED, reason=reason)


def _keep(
    callback: Callback,
    *,
    ref: str = "",
    tag: UUID | None = None,
    entry_id: UUID | None = None,
    status: Status | None = None,
    reason: str = "",
) -> str:
    """One statement, which is one transaction (inbox/sql/delivery_v1.sql)."""
    who = context.actor.get()
    cause = {"actor": {"kind": who.kind, "id": who.id, "label": who.label}, "request_id": context.request_id.get()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT outcome FROM inbox_take_news_v1(%s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, %s, %s)",
            [
                callback.provider,
                callback.event_id[:200],
                callback.key,
                callback.kind.replace("\x00", "")[:40],
                callback.signature,
                ref,
                tag,
                entry_id,
                # The column type knows no NUL.
                orjson.dumps(callback.payload).decode().replace("\\u0000", "\\ufffd"),
                orjson.dumps(cause).decode(),
                status,
                reason[:200],
            ],
        )
        outcome = str(cursor.fetchone()[0])
    if outcome == Status.RECEIVED:
        nudge.wake("kernel.tasks.drain_outbox")
    return outcome


# A provider can be faster than the sender that is about to write down the provider's id.
_LATE = """
UPDATE webhooks_providerevent p SET workspace_id = o.workspace_id, status = 'received'
FROM inbox_outboundmessage o
WHERE p.status = 'unmatched' AND p.provider = %s AND p.received_at > now() - interval '1 hour'
  AND o.provider_ref = p.subject_ref AND o.provider_ref <> ''
RETURNING p.id, p.workspace_id
"""


def match_late() -> int:
    """Give news to messages whose id was written after it came; how much."""
    with in_all_workspaces("news that nobody owned yet is the estate's"), connection.cursor() as cursor:
        cursor.execute(_LATE, [PROVIDER])
        rows = cursor.fetchall()
        for event_id, workspace_id in rows:
            outbox.emit(ProviderEventReceived(workspace_id=workspace_id, provider_event_id=event_id))
    return len(rows)


def apply(*, provider_event_id: UUID) -> None:
    """Write kept news of the current workspace onto its entry. Needs a unit of work; a second time changes nothing."""
    current_unit()
    callback = callbacks.claim(provider_event_id=provider_event_id)
    if callback is None:
        return
    news = _READERS[callback.provider](callback.payload)
    message = _message(news) if news else None
    if news is None or message is None:
        callbacks.settle(provider_event_id=provider_event_id, status=Status.UNMATCHED, reason="its message is gone")
        return
    _apply(message, news, provider_event_id)
    callbacks.settle(provider_event_id=provider_event_id, status=Status.APPLIED)


def _message(news: News) -> OutboundMessage | None:
    """The message that news is about, locked: so the sender and a person who settles it wait."""
    rows = OutboundMessage.objects.select_for_update(of=("self",)).select_related("entry").defer("raw")
    by = (("provider_ref", news.message_id), ("id", news.tag), ("entry_id", news.entry_id))
    found = (rows.filter(**{name: value}).first() for name, value in by if value)
    return next((message for message in found if message is not None), None)


def _apply(message: OutboundMessage, news: News, provider_event_id: UUID) -> None:
    told = {item.address: item for item in news.recipients}
    concerned = [told[address] for address in message.envelope_to if address in told]
    # The provider speaks of the message, so it has the message: whatever was uncertain, or waited to be sent again, is out.
    sending.proven(message, reference=news.message_id or message.provider_ref)
    EntryDeliveryEvent.objects.create(
        workspace_id=message.workspace_id,
        entry=message.entry,
        kind=news.kind,
        provider_event_id=str(provider_event_id),
        at=news.at or clock.now(),
        detail={
            **news.detail,
            "recipients": [
                {"address": item.address, "status": item.status, "diagnostic": item.diagnostic} for item in concerned
            ],
        },
    )
    if news.kind == "rejected":
        sending.refused(
            message, error=news.detail.get("reason") or news.detail.get("errorMessage") or "rejected by SES"
        )
    elif news.kind != "sent" and (news.kind != "complained" or news.is_final):
        _move(message, news, concerned)
        _suppress(message, news, concerned)
    record(
        workspace_id=message.workspace_id,
        action=f"delivery.{news.kind}",
        resource_kind="entry",
        resource_id=message.entry_id,
        payload={"provider_event_id": str(provider_event_id), "recipients": len(concerned), "final": news.is_final},
    )


def _move(message: OutboundMessage, news: News, concerned: Sequence[RecipientNews]) -> None:
    """Each recipient, the entry, and a fact for each recipient that came further."""
    state = DeliveryState(news.kind) if news.is_final or news.kind != "bounced" else DeliveryState.SOFT_BOUNCED
    moved = [(item, row) for item in concerned if (row := _further(message, news, item, state)) is not None]
    whole = _whole(message)
    further = [name for name in DeliveryState if name.rank < whole.rank]
    Entry.objects.filter(id=message.entry_id, delivery_state__in=further).update(delivery_state=whole)
    for item, recipient_id in moved:
        event = DELIVERY_NEWS[DeliveryState(news.kind)]
        extra: dict[str, Any] = {"permanent": news.is_final, "status": item.status} if news.kind == "bounced" else {}
        outbox.emit(
            event(
                workspace_id=message.workspace_id,
                entry_id=message.entry_id,
                thread_id=message.entry.thread_id,
                inbox_id=message.inbox_id,
                outbound_message_id=message.id,
                recipient_id=recipient_id,
                **extra,
            )
        )


# One statement, so that two workers with news of one recipient cannot pass each other.
_FURTHER = """
INSERT INTO inbox_entryrecipient (id, workspace_id, entry_id, address, state, status_code, diagnostic, at)
VALUES (gen_random_uuid(), %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT ON CONSTRAINT inbox_one_state_per_recipient DO UPDATE SET state = excluded.state,
    status_code = excluded.status_code, diagnostic = excluded.diagnostic, at = excluded.at
WHERE inbox_delivery_rank_v1(excluded.state) > inbox_delivery_rank_v1(inbox_entryrecipient.state)
RETURNING id
"""


def _further(message: OutboundMessage, news: News, item: RecipientNews, state: DeliveryState) -> UUID | None:
    """The recipient's row when it came further by this; None when it was as far before."""
    who = (message.workspace_id, message.entry_id, item.address)
    what = (state.value, item.status, item.diagnostic, news.at or clock.now())
    with connection.cursor() as cursor:
        cursor.execute(_FURTHER, who + what)
        row = cursor.fetchone()
    return row[0] if row else None


def _whole(message: OutboundMessage) -> DeliveryState:
    """The entry's state: the worst of its recipients; `delivered` when all have it, `sent` while some are silent."""
    found = dict(EntryRecipient.objects.filter(entry_id=message.entry_id).values_list("address", "state"))
    states = {DeliveryState(state) for state in found.values()}
    for bad in (DeliveryState.COMPLAINED, DeliveryState.BOUNCED, DeliveryState.SOFT_BOUNCED, DeliveryState.DELAYED):
        if bad in states:
            return bad
    everybody = set(message.envelope_to) <= set(found)
    # Whom it was never sent to, since their address is suppressed, nobody waits for.
    arrived = states - {DeliveryState.FAILED} == {DeliveryState.DELIVERED}
    return DeliveryState.DELIVERED if everybody and arrived else DeliveryState.SENT


def _suppress(message: OutboundMessage, news: News, concerned: Sequence[RecipientNews]) -> None:
    """Write no more to who complained or does not exist; rest where mail came back for now too often."""
    if news.kind not in ("bounced", "complained"):
        return
    at = news.at or clock.now()
    for item in concerned:
        expires_at = None
        if news.kind == "complained":
            reason = SuppressionReason.COMPLAINT
        elif news.is_final:
            reason = SuppressionReason.BOUNCE
        elif _comes_back_often(item.address):
            reason, expires_at = SuppressionReason.SOFT_BOUNCE, clock.now() + timedelta(days=settings.SOFT_BOUNCE_DAYS)
        else:
            continue
        suppressing.suppress(
            workspace_id=message.workspace_id,
            address=item.address,
            reason=reason,
            at=at,
            detail=item.diagnostic or item.status or ", ".join(news.detail.values()),
            expires_at=expires_at,
        )


def _comes_back_often(address: str) -> bool:
    """One row for each message, so that news which is repeated counts once."""
    since = clock.now() - timedelta(days=settings.SOFT_BOUNCE_DAYS)
    rows = EntryRecipient.objects.filter(address=address, state=DeliveryState.SOFT_BOUNCED, at__gte=since)
    limit: int = settings.SOFT_BOUNCE_LIMIT
    return len(rows.values_list("id")[:limit]) >= limit

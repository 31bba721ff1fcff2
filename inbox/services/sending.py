"""Send queued messages, each at most once.

`sending` is committed before the transport is called. What happens then has four ends: sent; refused for good (failed);
not accepted for now (queued again, later); or unknown (uncertain), which also is the end of a sender that died. An
uncertain message is never sent again by itself: provider news or a person settles it. An address that the workspace
must not write to is left out (contacts' suppressed addresses), and a message for nobody else fails.

The emergency stop is asked twice: the claim leaves stopped workspaces out, and the moment before the transport is called
a message that was claimed in an earlier generation goes back into the queue.
"""

import logging
import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import F

from audit.services import record
from inbox.channels.registry import rewritten
from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt, SignInRefused
from inbox.events import EntryEvent, EntrySent, SendFailed, SendUncertain
from inbox.models import Entry, EntryDeliveryEvent, EntryRecipient, MessageReference, OutboundMessage, Thread
from inbox.queries import connections, conversations, threading
from inbox.services import trying
from inbox.types import ANSWERS, DeliveryState, SendState
from kernel import clock, outbox
from kernel.context import Actor, acting_as
from kernel.crash import crash_point
from kernel.errors import Conflict, NotFound
from kernel.transactions import current_unit, in_all_workspaces, in_workspace
from tenancy.queries import control

logger = logging.getLogger(__name__)

SENDER = Actor(kind="system", id="sender", label="mail sender")


@dataclass(frozen=True)
class _Claimed:
    id: UUID
    workspace_id: UUID
    lease_token: int
    attempts: int
    generation: int
    envelope_from: str
    envelope_to: list[str]
    raw: bytes
    # Reason by address, of recipients that the workspace does not write to any more.
    suppressed: dict[str, str]
    # What the inbox sends through at this moment; None: what the installation is set up with.
    connection_id: UUID | None


_CLAIM = f"""
UPDATE inbox_outboundmessage SET state = 'sending', attempts = attempts + 1, lease_token = lease_token + 1,
    generation = {control.generation_of("inbox_outboundmessage")}, due_at = now() + %(lease)s
WHERE id = (
    SELECT id FROM inbox_outboundmessage WHERE state = 'queued' AND due_at <= now()
      AND workspace_id <> ALL ({control.STOPPED})
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, workspace_id, lease_token, attempts, generation, envelope_from, envelope_to, raw, (
    SELECT jsonb_object_agg(s.value, s.reason) FROM contacts_suppressionentry s
    WHERE s.workspace_id = inbox_outboundmessage.workspace_id AND s.kind = 'email' AND s.value = ANY (envelope_to)
      AND s.lifted_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > now())),
    (SELECT connection_id FROM inbox_inbox i WHERE i.id = inbox_outboundmessage.inbox_id)
"""  # noqa: S608 - pieces of ours

_ABANDONED = """
SELECT id, workspace_id, lease_token FROM inbox_outboundmessage
WHERE state = 'sending' AND due_at <= now() ORDER BY due_at LIMIT 100
"""


def send_due() -> bool:
    """Send one due message; False when none is due. Also settles messages whose sender died on them."""
    _settle_abandoned()
    claimed = _claim()
    if claimed is None:
        return False
    with acting_as(SENDER):
        _send(claimed)
    return True


def _claim() -> _Claimed | None:
    values: dict[str, Any] = {"lease": timedelta(seconds=settings.SEND_LEASE_SECONDS)}
    with in_all_workspaces("the sender serves every workspace"), connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        row = cursor.fetchone()
    if row is None:
        return None
    message_id, workspace_id, token, attempts, generation, sender, recipients, raw, found, connection_id = row
    suppressed = orjson.loads(found) if isinstance(found, str) else found or {}
    fence = (token, attempts, generation)
    return _Claimed(message_id, workspace_id, *fence, sender, recipients, bytes(raw), suppressed, connection_id)


def _send(claimed: _Claimed) -> None:
    crash_point("send.before_provider")
    allowed = [address for address in claimed.envelope_to if address not in claimed.suppressed]
    if not allowed:
        _finish(claimed.id, claimed.workspace_id, claimed.lease_token, SendState.FAILED, error=_suppressed(claimed))
        return
    if not control.is_current(workspace_id=claimed.workspace_id, generation_claimed=claimed.generation):
        _hold_back(claimed)
        return
    try:
        receipt = connections.transport_of(claimed.workspace_id, claimed.connection_id).send(
            raw=claimed.raw,
            envelope_from=claimed.envelope_from,
            envelope_to=allowed,
            tag=str(claimed.id),
        )
    except NotAccepted as error:
        if isinstance(error, SignInRefused) and claimed.connection_id:
            trying.refused_to_send(
                workspace_id=claimed.workspace_id, connection_id=claimed.connection_id, detail=str(error)
            )
        _not_accepted(claimed, error)
        return
    except MaybeAccepted as error:
        _finish(claimed.id, claimed.workspace_id, claimed.lease_token, SendState.UNCERTAIN, error=str(error))
        return
    except Exception as error:
        logger.exception("a transport failed in an unknown way", extra={"outbound_message_id": str(claimed.id)})
        _finish(claimed.id, claimed.workspace_id, claimed.lease_token, SendState.UNCERTAIN, error=repr(error))
        return
    crash_point("send.after_provider")
    ours = _finish(claimed.id, claimed.workspace_id, claimed.lease_token, SendState.SENT, receipt=receipt)
    if ours and claimed.suppressed:
        _note_left_out(claimed)
    crash_point("send.ref_stored")


def _hold_back(claimed: _Claimed) -> None:
    """The workspace was stopped since the claim. Nothing was tried, so nothing counts; it waits for the release."""
    with in_workspace(claimed.workspace_id):
        ours = OutboundMessage.objects.filter(id=claimed.id, state=SendState.SENDING, lease_token=claimed.lease_token)
        ours.update(state=SendState.QUEUED, attempts=F("attempts") - 1, due_at=clock.now())


def _suppressed(claimed: _Claimed) -> str:
    """Without the address: errors go to integrators and into the audit trail."""
    reasons = ", ".join(sorted(set(claimed.suppressed.values()))).replace("_", " ")
    return f"not sent: the recipient's address is suppressed ({reasons}); a person can lift that under Suppressed addresses"


def _note_left_out(claimed: _Claimed) -> None:
    """The message went to the others; for these it ends here."""
    with in_workspace(claimed.workspace_id):
        entry_id = OutboundMessage.objects.values_list("entry_id", flat=True).get(id=claimed.id)
        EntryRecipient.objects.bulk_create(
            [
                EntryRecipient(
                    workspace_id=claimed.workspace_id,
                    entry_id=entry_id,
                    address=address,
                    state=DeliveryState.FAILED,
                    diagnostic=f"not sent: suppressed ({reason})",
                    at=clock.now(),
                )
                for address, reason in claimed.suppressed.items()
            ],
            ignore_conflicts=True,
        )


def _not_accepted(claimed: _Claimed, error: NotAccepted) -> None:
    delays = settings.SEND_RETRY_SECONDS
    if error.permanent or claimed.attempts > len(delays):
        _finish(claimed.id, claimed.workspace_id, claimed.lease_token, SendState.FAILED, error=str(error))
        return
    delay = delays[claimed.attempts - 1] * random.uniform(0.9, 1.1)  # noqa: S311 - jitter, not a secret
    with in_workspace(claimed.workspace_id):
        OutboundMessage.objects.filter(id=claimed.id, state=SendState.SENDING, lease_token=claimed.lease_token).update(
            state=SendState.QUEUED, due_at=clock.now() + timedelta(seconds=delay), last_error=str(error)[:500]
        )


def _settle_abandoned() -> None:
    with in_all_workspaces("the sender serves every workspace"), connection.cursor() as cursor:
        cursor.execute(_ABANDONED)
        rows = cursor.fetchall()
    for message_id, workspace_id, lease_token in rows:
        with acting_as(SENDER):
            _finish(message_id, workspace_id, lease_token, SendState.UNCERTAIN, error="the sender died while sending")


def _finish(
    message_id: UUID,
    workspace_id: UUID,
    lease_token: int,
    state: SendState,
    *,
    receipt: Receipt | None = None,
    error: str = "",
) -> bool:
    """Write an end, unless the lease was lost: row, entry, fact and audit together."""
    with in_workspace(workspace_id):
        now = clock.now()
        ours = OutboundMessage.objects.filter(id=message_id, state=SendState.SENDING, lease_token=lease_token)
        changed = ours.update(
            state=state,
            provider_ref=receipt.reference[:200] if receipt else "",
            last_error=error[:500],
            sent_at=now if state == SendState.SENT else None,
        )
        if not changed:
            logger.warning("a late sender was refused", extra={"outbound_message_id": str(message_id)})
            return False
        _publish(OutboundMessage.objects.select_related("entry").get(id=message_id), state, receipt, error)
    return True


def _publish(message: OutboundMessage, state: SendState, receipt: Receipt | None, error: str) -> None:
    entry = message.entry
    # The thread before its entries, as wherever both are written.
    thread = conversations.lock_thread_of(entry.id, seen_in=entry.thread_id) if state == SendState.FAILED else None
    _move(entry, DeliveryState(state))
    EntryDeliveryEvent.objects.create(
        workspace_id=message.workspace_id,
        entry=entry,
        kind=state.value,
        provider_event_id=f"{message.id}:{message.lease_token}",
        at=clock.now(),
        detail={"error": error[:500]} if error else {"reference": message.provider_ref},
    )
    if receipt and receipt.message_id:
        _index_rewritten(message, receipt.message_id)
    if thread is not None:
        _reopen_turn(entry, thread)
    common: dict[str, Any] = {
        "workspace_id": message.workspace_id,
        "entry_id": entry.id,
        "thread_id": entry.thread_id,
        "inbox_id": entry.inbox_id,
        "outbound_message_id": message.id,
    }
    event: EntryEvent
    if state == SendState.SENT:
        event = EntrySent(**common, provider_ref=message.provider_ref)
    elif state == SendState.FAILED:
        event = SendFailed(**common, error=error[:500])
    else:
        event = SendUncertain(**common, error=error[:500])
    outbox.emit(event)
    record(
        workspace_id=message.workspace_id,
        action=f"reply.{state.value}",
        resource_kind="entry",
        resource_id=entry.id,
        payload={"provider_ref": message.provider_ref, "error": error[:200]},
    )


def _move(entry: Entry, state: DeliveryState) -> None:
    """On, never back: news of the provider may have been faster."""
    earlier = [name for name in DeliveryState if name.rank <= state.rank]
    Entry.objects.filter(id=entry.id, delivery_state__in=earlier).update(delivery_state=state)


def proven(message: OutboundMessage, *, reference: str) -> None:
    """News of the provider proves that it has the message, which the caller has locked: settles whatever was open.

    A message that waits to be sent once more waits no longer, and a sender that is at it comes too late to write an end.
    """
    current_unit()
    if message.state not in (SendState.QUEUED, SendState.SENDING, SendState.UNCERTAIN):
        return
    message.state, message.sent_at, message.provider_ref = SendState.SENT, clock.now(), reference[:200]
    message.save(update_fields=["state", "sent_at", "provider_ref"])
    known = rewritten(reference, region=connections.region_of(message.inbox_id)) if reference else ""
    _publish(message, SendState.SENT, Receipt(reference, known), "")


def refused(message: OutboundMessage, *, error: str) -> None:
    """News of the provider: it took the message and then would not deliver it to anybody. The caller has locked it."""
    current_unit()
    if (
        DeliveryState(message.entry.delivery_state).rank > DeliveryState.FAILED.rank
        or message.state == SendState.FAILED
    ):
        return
    message.state, message.last_error = SendState.FAILED, error[:500]
    message.save(update_fields=["state", "last_error"])
    _publish(message, SendState.FAILED, None, error)


def _index_rewritten(message: OutboundMessage, rewritten: str) -> None:
    MessageReference.objects.bulk_create(
        [
            MessageReference(
                workspace_id=message.workspace_id,
                inbox_id=message.inbox_id,
                entry_id=message.entry_id,
                message_id_hash=threading.reference_hash(rewritten),
                message_id=rewritten,
                kind="rewritten",
            )
        ],
        ignore_conflicts=True,
    )


def _reopen_turn(entry: Entry, thread: Thread) -> None:
    """An answer that never arrived is none: the customer waits again, since when they wrote."""
    if entry.outbound_kind not in ANSWERS:
        return
    Thread.objects.filter(id=thread.id).update(first_unanswered_inbound_at=conversations.turn_of(thread.id))
    Entry.objects.filter(id=entry.id).update(response_time_seconds=None)


def settle(*, workspace_id: UUID, outbound_message_id: UUID, accepted: bool) -> None:
    """A person (or news from the provider) says what became of an uncertain message.

    `accepted=False` queues the very same bytes, with the same Message-ID, once more.
    """
    with in_workspace(workspace_id):
        message = OutboundMessage.objects.select_for_update().filter(id=outbound_message_id).first()
        if message is None:
            raise NotFound
        if message.state != SendState.UNCERTAIN:
            raise Conflict("Only an uncertain message can be settled.")
        state = SendState.SENT if accepted else SendState.QUEUED
        OutboundMessage.objects.filter(id=message.id).update(
            state=state, due_at=clock.now(), sent_at=clock.now() if accepted else None
        )
        Entry.objects.filter(id=message.entry_id).update(delivery_state=state)
        record(
            workspace_id=workspace_id,
            action="reply.settle",
            resource_kind="outbound_message",
            resource_id=message.id,
            payload={"accepted": accepted},
        )
        if accepted:
            _announce_settled(message)


def _announce_settled(message: OutboundMessage) -> None:
    entry = Entry.objects.get(id=message.entry_id)
    outbox.emit(
        EntrySent(
            workspace_id=message.workspace_id,
            entry_id=entry.id,
            thread_id=entry.thread_id,
            inbox_id=entry.inbox_id,
            outbound_message_id=message.id,
            provider_ref=message.provider_ref,
        )
    )

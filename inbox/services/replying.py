"""Write a reply into its thread and queue it for sending: the one way by which anything leaves an inbox.

Who gets it is decided here, from the mail that is answered, and by nobody else: no agent, tool or text can name a recipient.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from audit.services import record
from contacts.queries import suppressions
from inbox import policy as policies
from inbox import tokens
from inbox.channels import composing
from inbox.channels.composing import Outgoing
from inbox.events import EntryQueued
from inbox.models import Email, Entry, InboxAddress, MessageReference, OutboundMessage, Thread, ThreadParticipant
from inbox.normalise import lenient, without_tag
from inbox.queries import authors, conversations, threading
from inbox.services import breaking, quotas
from inbox.types import ANSWERS, Direction, OutboundKind, SendState
from kernel import clock, outbox
from kernel.context import Actor
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import current_unit, in_workspace

_PREVIEW = 160


@dataclass(frozen=True)
class Held:
    """An automatic answer that was held back: to which mail, whose it would have been, and by which cap."""

    workspace_id: UUID
    inbox_id: UUID
    thread_id: UUID
    email_id: UUID
    sender: str
    cap: str


class AutoReplyHeld(Conflict):
    """An automatic answer was held back; `cap` says by what. A person may still answer."""

    code = "automatic_answer_held"

    def __init__(self, held: Held) -> None:
        super().__init__(
            f"An automatic answer is held back by the cap on the {held.cap}. A person can answer.", cap=held.cap
        )
        self.held = held


class InboxGone(Conflict):
    """The inbox that got the mail was deleted, so nothing is sent in its name."""

    code = "inbox_deleted"


class NobodyToAnswer(Conflict):
    """The mail names no address that a reply could go to."""

    code = "nobody_to_answer"


class RecipientSuppressed(Invalid):
    """The workspace does not write to the sender's address: mail came back from it, or its owner complained."""

    code = "recipient_suppressed"


@dataclass(frozen=True)
class QueuedReply:
    """A reply that is part of the conversation and waits for the sender."""

    entry_id: UUID
    outbound_message_id: UUID


def queue_reply(
    *, email_id: UUID, text: str, kind: OutboundKind, idempotency_key: str, automatic: bool, author: Actor
) -> QueuedReply:
    """Answer an e-mail of the current workspace. Needs a unit of work; the same key gives the same reply again.

    Raises AutoReplyHeld when `automatic` and a cap is reached, NobodyToAnswer, RecipientSuppressed, InboxGone, NotFound.
    """
    current_unit()
    entry = Entry.objects.select_related("email__inbox").filter(email_id=email_id, email__deleted_at=None).first()
    email = entry.email if entry is not None else None
    if email is None or entry is None:
        raise NotFound
    thread = conversations.lock_thread_of(entry.id, seen_in=entry.thread_id)
    existing = OutboundMessage.objects.filter(idempotency_key=idempotency_key).first()
    if existing:
        return QueuedReply(existing.entry_id, existing.id)
    if email.inbox.deleted_at is not None:
        raise InboxGone("The inbox of this mail was deleted. Ask an operator to restore it.")
    recipient = _recipient(email)
    if automatic:
        _check_caps(email, thread, lenient(recipient[1]))
    reply = _Reply(text, kind, idempotency_key, automatic, author)
    return _write(email, entry, thread, recipient, reply)


def check_recipient(*, email_id: UUID) -> None:
    """Raises what `queue_reply` would about the recipient: NobodyToAnswer, RecipientSuppressed. Needs a unit of work.

    For whoever would work on a reply, or ask a person about one, before there is anything to queue.
    """
    current_unit()
    email = Email.objects.select_related("inbox").filter(id=email_id).first()
    if email is None:
        raise NotFound
    _recipient(email)


def _recipient(email: Email) -> tuple[str, str]:
    """Name and address of the one who gets the reply, if there is one who may get it."""
    name, address = _sender(email)
    if not _can_be_written_to(address) or not _can_be_written_to(email.inbox.address):
        raise NobodyToAnswer(
            "One of the addresses has letters before its @ that only some mail servers take (RFC 6531)."
        )
    # The sender asks once more (services/sending.py); here, whoever writes hears of it while they write.
    reason = suppressions.reason_for(lenient(address))
    if reason is not None:
        raise RecipientSuppressed(
            f"The recipient's address is suppressed ({reason.value.replace('_', ' ')}), so nothing is sent to it. A person"
            " can lift that in the console under Suppressed addresses; then send the reply again.",
            pointer="/email_id",
        )
    return name, address


def named_by(email: Email) -> tuple[str, str]:
    """Name and address that the mail names for answers: its author; a Reply-To of theirs only on the same domain (FS-4).

    Of mail that came through an address of ours, such as a web form's, Reply-To is the author.
    """
    offered = [item for item in email.reply_to if "@" in item["address"]]
    if offered and _domain(offered[0]["address"]) == _domain(email.from_address):
        return offered[0]["name"], offered[0]["address"]
    return authors.of(email)


def _sender(email: Email) -> tuple[str, str]:
    """Who the mail names for answers; never an inbox of ours (DH-1)."""
    sender = named_by(email)
    if "@" not in sender[1] or _is_own(email, lenient(sender[1])):
        raise NobodyToAnswer("The mail has no sender that could be answered.")
    return sender


def _is_own(email: Email, address: str) -> bool:
    """Whether it leads back into the same inbox, by its own or a further address."""
    forms = {address, without_tag(address)}
    if email.inbox.address_normalized in forms:
        return True
    return InboxAddress.objects.filter(inbox_id=email.inbox_id, address_normalized__in=forms).exists()


def _can_be_written_to(address: str) -> bool:
    """In ASCII before the @, since our transports speak no SMTPUTF8; a domain has an ASCII form that is used instead."""
    return address.rpartition("@")[0].isascii() and _domain(address).isascii()


def _domain(address: str) -> str:
    return lenient(address).rpartition("@")[2]


def _check_caps(email: Email, thread: Thread, sender: str) -> None:
    cap = "hops" if email.hops >= settings.MAX_HOPS else ""
    if not cap:
        cap = quotas.take(workspace_id=email.workspace_id, inbox_id=email.inbox_id, thread_id=thread.id, sender=sender)
    if cap:
        raise AutoReplyHeld(Held(email.workspace_id, email.inbox_id, thread.id, email.id, sender, cap))


def report_held(held: Held) -> None:
    """Note a held answer, in a unit of its own: the one that was held back is gone. People hear of the first only."""
    with in_workspace(held.workspace_id):
        breaking.hold(
            workspace_id=held.workspace_id,
            inbox_id=held.inbox_id,
            thread_id=held.thread_id,
            sender=held.sender,
            cap=held.cap,
        )
        record(
            workspace_id=held.workspace_id,
            action="reply.hold",
            resource_kind="email",
            resource_id=held.email_id,
            payload={"cap": held.cap},
        )


@dataclass(frozen=True)
class _Reply:
    text: str
    kind: OutboundKind
    key: str
    automatic: bool
    author: Actor


def _write(email: Email, answered: Entry, thread: Thread, recipient: tuple[str, str], reply: _Reply) -> QueuedReply:
    now = clock.now()
    entry_id = uuid4()
    message_id = tokens.message_id(entry_id, domain=_domain(email.inbox.address))
    subject = composing.reply_subject(email.subject)
    outgoing = Outgoing(
        from_name=email.inbox.name,
        from_address=email.inbox.address,
        to=[recipient],
        subject=subject,
        text=reply.text,
        message_id=message_id,
        date=now,
        in_reply_to=email.rfc_message_id,
        references=email.references,
        automatic=reply.automatic,
        hops=email.hops + 1,
        reply_to=tokens.reply_address(entry_id, email.inbox.address)
        if policies.parse(email.inbox.policy).reply_address_tag
        else "",
    )
    entry = Entry.objects.create(
        id=entry_id,
        workspace_id=email.workspace_id,
        inbox_id=email.inbox_id,
        thread=thread,
        direction=Direction.OUTBOUND,
        outbound_kind=reply.kind,
        provider_entry_key=f"out:{entry_id}",
        author_kind=reply.author.kind,
        author_id=reply.author.id,
        author_label=reply.author.label,
        in_reply_to=answered,
        subject=subject,
        body_text=reply.text,
        extracted_text=reply.text,
        occurred_at=now,
        delivery_state=SendState.QUEUED,
        thread_decision={"rule": "reply", "confidence": "certain", "evidence": {"answers": str(answered.id)}},
        **_response_time(thread, reply.kind, now),
    )
    message = OutboundMessage.objects.create(
        workspace_id=email.workspace_id,
        entry=entry,
        inbox_id=email.inbox_id,
        idempotency_key=reply.key,
        message_id=message_id,
        envelope_from=email.inbox.address,
        envelope_to=[lenient(recipient[1])],
        raw=composing.compose(outgoing),
        is_automatic=reply.automatic,
    )
    _index(entry, message, lenient(recipient[1]))
    _touch(thread, entry, reply.kind, reply.text)
    outbox.emit(
        EntryQueued(
            workspace_id=email.workspace_id,
            entry_id=entry.id,
            thread_id=thread.id,
            inbox_id=email.inbox_id,
            outbound_message_id=message.id,
        )
    )
    record(
        workspace_id=email.workspace_id,
        action="reply.queue",
        resource_kind="entry",
        resource_id=entry.id,
        payload={"email_id": email.id, "kind": reply.kind, "automatic": reply.automatic},
    )
    return QueuedReply(entry.id, message.id)


def _response_time(thread: Thread, kind: OutboundKind, now: Any) -> dict[str, int]:
    """Seconds since the turn opened, on the first answer only (S1-19)."""
    if kind not in ANSWERS or thread.first_unanswered_inbound_at is None:
        return {}
    waited: timedelta = now - thread.first_unanswered_inbound_at
    return {"response_time_seconds": max(0, int(waited.total_seconds()))}


def _index(entry: Entry, message: OutboundMessage, recipient: str) -> None:
    reference = message.message_id.strip("<>")
    MessageReference.objects.create(
        workspace_id=entry.workspace_id,
        inbox_id=entry.inbox_id,
        entry=entry,
        message_id_hash=threading.reference_hash(reference),
        message_id=reference,
        kind="own",
    )
    # Who was written to may answer into this conversation.
    ThreadParticipant.objects.bulk_create(
        [
            ThreadParticipant(
                workspace_id=entry.workspace_id,
                thread_id=entry.thread_id,
                address=recipient,
                role="recipient",
                source="outbound",
            )
        ],
        ignore_conflicts=True,
    )


def _touch(thread: Thread, entry: Entry, kind: OutboundKind, text: str) -> None:
    thread.last_entry_seq = entry.seq
    thread.last_entry_at = entry.occurred_at
    thread.entry_count += 1
    thread.preview = " ".join(text.split())[:_PREVIEW]
    fields = ["last_entry_seq", "last_entry_at", "entry_count", "preview"]
    if kind in ANSWERS:
        thread.first_unanswered_inbound_at = None
        fields.append("first_unanswered_inbound_at")
    thread.save(update_fields=fields)

"""What people write to the customer of a conversation."""

from uuid import UUID

from inbox.models import Email, Entry, OutboundMessage
from inbox.queries import conversations
from inbox.services import drafting, progress, replying
from inbox.services.replying import QueuedReply
from inbox.types import Direction, EmailState, OutboundKind
from kernel.context import Actor
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace

_WAITING = (EmailState.THREADED, EmailState.QUEUED, EmailState.RUNNING, EmailState.WAITING_APPROVAL, EmailState.FAILED)


class NotReadYet(Conflict):
    """Something came into the conversation that the writer has not seen."""

    code = "conversation_moved_on"


def reply(
    *, workspace_id: UUID, email_id: UUID, text: str, key: str, author: Actor, seen: int | None = None
) -> QueuedReply:
    """A person answers. The conversation's waiting mails are handled by it; an agent that still works is overtaken.

    `seen` is the place of the latest message that the writer has read: what came after it, a customer's mail or another
    one's answer, is not passed over. The same `key` is the same reply. Raises Invalid for an empty text, NotReadYet,
    NotFound, NobodyToAnswer, RecipientSuppressed.
    """
    with in_workspace(workspace_id):
        if seen is not None:
            _expect_nothing_new(email_id, f"person:{key}", seen)
        queued = replying.queue_reply(
            email_id=email_id,
            text=_written(text),
            kind=OutboundKind.HUMAN,
            idempotency_key=f"person:{key}",
            automatic=False,
            author=author,
        )
        thread_id = Entry.objects.values_list("thread_id", flat=True).get(id=queued.entry_id)
        waiting = Email.objects.filter(entry__thread_id=thread_id, state__in=_WAITING)
        for waiting_id in waiting.order_by("created_at").values_list("id", flat=True):
            progress.move(email_id=waiting_id, to=EmailState.HANDLED, reason="answered by a person")
        if drafting.current(thread_id=thread_id, author=author):
            drafting.discard(workspace_id=workspace_id, thread_id=thread_id, author=author)
    return queued


def _expect_nothing_new(email_id: UUID, key: str, seen: int) -> None:
    entry = Entry.objects.only("id", "thread_id").filter(email_id=email_id).first()
    if entry is None:
        raise NotFound
    # The thread's lock is what a mail that is being filed, and another one's reply, wait for.
    thread = conversations.lock_thread_of(entry.id, seen_in=entry.thread_id)
    if OutboundMessage.objects.filter(idempotency_key=key).exists():
        return
    newer = Entry.objects.filter(thread_id=thread.id, seq__gt=seen).exclude(direction=Direction.INTERNAL)
    if newer.exists():
        raise NotReadYet(
            "The conversation has gone on since you opened it. Your words are kept: read what is new, then send them."
        )


def _written(text: str) -> str:
    clean = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not clean:
        raise Invalid("Write something first.", pointer="/text")
    return clean

"""What people write to the customer of a conversation."""

from uuid import UUID

from inbox.models import Email, Entry
from inbox.services import drafting, progress, replying
from inbox.services.replying import QueuedReply
from inbox.types import EmailState, OutboundKind
from kernel.context import Actor
from kernel.errors import Invalid
from kernel.transactions import in_workspace

_WAITING = (EmailState.THREADED, EmailState.QUEUED, EmailState.RUNNING, EmailState.WAITING_APPROVAL, EmailState.FAILED)


def reply(*, workspace_id: UUID, email_id: UUID, text: str, key: str, author: Actor) -> QueuedReply:
    """A person answers. The conversation's waiting mails are handled by it; an agent that still works is overtaken.

    The same `key` is the same reply. Raises Invalid for an empty text, NotFound, NobodyToAnswer, RecipientSuppressed.
    """
    with in_workspace(workspace_id):
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


def _written(text: str) -> str:
    clean = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not clean:
        raise Invalid("Write something first.", pointer="/text")
    return clean

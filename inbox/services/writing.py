"""What people write into a conversation: replies to the customer, and notes that the customer never sees."""

from uuid import UUID, uuid4

from audit.services import record
from inbox.models import Email, Entry
from inbox.queries import conversations
from inbox.services import progress, replying
from inbox.services.replying import QueuedReply
from inbox.types import Confidence, Direction, EmailState, OutboundKind, Rule
from kernel import clock
from kernel.context import Actor
from kernel.errors import Invalid, NotFound
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
    return queued


def note(*, workspace_id: UUID, thread_id: UUID, text: str, author: Actor) -> UUID:
    """An internal note; the id of its entry. It opens and ends no turn."""
    with in_workspace(workspace_id):
        thread = conversations.thread(thread_id)
        if thread is None:
            raise NotFound
        thread = conversations.lock_thread(thread_id)
        entry_id = uuid4()
        entry = Entry.objects.create(
            id=entry_id,
            workspace_id=workspace_id,
            inbox_id=thread.inbox_id,
            thread=thread,
            direction=Direction.INTERNAL,
            provider_entry_key=f"note:{entry_id}",
            author_kind=author.kind,
            author_id=author.id,
            author_label=author.label,
            body_text=_written(text),
            extracted_text=_written(text),
            occurred_at=clock.now(),
            thread_decision={"rule": Rule.NOTE.value, "confidence": Confidence.CERTAIN.value, "evidence": {}},
        )
        thread.last_entry_seq, thread.last_entry_at = entry.seq, entry.occurred_at
        thread.entry_count += 1
        thread.save(update_fields=["last_entry_seq", "last_entry_at", "entry_count"])
        record(workspace_id=workspace_id, action="note.write", resource_kind="entry", resource_id=entry.id)
    return entry.id


def _written(text: str) -> str:
    clean = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not clean:
        raise Invalid("Write something first.", pointer="/text")
    return clean

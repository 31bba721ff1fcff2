"""Internal notes: beside the conversation, in its order, and for nobody but colleagues."""

from collections.abc import Sequence
from uuid import UUID

from audit.services import record
from inbox.queries import conversations, desk
from kernel import outbox
from kernel.context import Actor
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy.queries import members
from tickets.events import NoteWritten
from tickets.models import Annotation

_LONGEST = 50_000
_MOST_MENTIONS = 20


def write(
    *,
    workspace_id: UUID,
    thread_id: UUID,
    text: str,
    author: Actor,
    entry_id: UUID | None = None,
    mentions: Sequence[UUID] = (),
) -> Annotation:
    """A note in a conversation, perhaps on one of its messages. It opens and ends no turn, and moves nothing in lists."""
    body = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not body or len(body) > _LONGEST:
        raise Invalid(f"Write something, in {_LONGEST} characters at most.", pointer="/text")
    named = list(dict.fromkeys(mentions))
    with in_workspace(workspace_id):
        if conversations.thread(thread_id) is None:
            raise NotFound
        thread = conversations.lock_thread(thread_id)
        if entry_id is not None and not desk.has_entry(thread_id=thread.id, entry_id=entry_id):
            raise Invalid("No message of this conversation has that id.", pointer="/entry_id")
        if len(named) > _MOST_MENTIONS or not all(map(members.is_active, named)):
            raise Invalid(f"Mention up to {_MOST_MENTIONS} active members of this workspace.", pointer="/mentions")
        note = Annotation.objects.create(
            workspace_id=workspace_id,
            thread=thread,
            entry_id=entry_id,
            body=body,
            mentions=named,
            author_kind=author.kind,
            author_id=author.id,
            author_label=author.label,
        )
        outbox.emit(
            NoteWritten(
                workspace_id=workspace_id,
                thread_id=thread.id,
                note_id=note.id,
                author_kind=author.kind,
            )
        )
        record(
            workspace_id=workspace_id,
            action="note.write",
            resource_kind="note",
            resource_id=note.id,
            payload={"thread_id": thread.id, "mentions": named},
        )
    return note

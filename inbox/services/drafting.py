"""Replies in the making: kept on the server, the same on all devices of their author, never overwritten unseen."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction

from audit.services import record
from inbox.events import DraftDiscarded, DraftSaved
from inbox.models import Draft
from inbox.queries import conversations
from kernel import outbox
from kernel.context import Actor
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace

_LONGEST = 100_000


class DraftChanged(Conflict):
    """Another device saved meanwhile; `version` and `text` are what it left."""

    code = "draft_changed"


def save(*, workspace_id: UUID, thread_id: UUID, author: Actor, text: str, version: int) -> Draft:
    """Keep what is written so far. `version` is the one that was read, 0 for a new draft; raises DraftChanged."""
    if len(text) > _LONGEST:
        raise Invalid(f"A draft may have {_LONGEST} characters at most.", pointer="/text")
    kept = text.replace("\x00", "")
    with in_workspace(workspace_id):
        if conversations.thread(thread_id) is None:
            raise NotFound
        draft = _of(thread_id, author, lock=True)
        if draft is None:
            if version:
                raise DraftChanged("The draft was sent or discarded elsewhere.", version=0, text="")
            draft = _new(workspace_id, thread_id, author, kept)
        elif draft.version != version:
            raise DraftChanged("The draft was changed on another device.", version=draft.version, text=draft.text)
        else:
            draft.text, draft.version = kept, version + 1
            draft.save(update_fields=["text", "version"])
        outbox.emit(
            DraftSaved(workspace_id=workspace_id, thread_id=thread_id, draft_id=draft.id, draft_version=draft.version)
        )
        if draft.version == 1:
            # One line for a draft and not for each pause of its author's fingers.
            record(workspace_id=workspace_id, action="draft.begin", resource_kind="draft", resource_id=draft.id)
    return draft


def _new(workspace_id: UUID, thread_id: UUID, author: Actor, text: str) -> Draft:
    try:
        with transaction.atomic():
            return Draft.objects.create(
                workspace_id=workspace_id,
                thread_id=thread_id,
                author_kind=author.kind,
                author_id=author.id,
                author_label=author.label,
                text=text,
            )
    except IntegrityError as error:
        raise DraftChanged("Another device has just begun this draft.", version=1, text="") from error


def discard(*, workspace_id: UUID, thread_id: UUID, author: Actor) -> None:
    """Away with it: it was sent, or nobody wants it. NotFound when there is none."""
    with in_workspace(workspace_id):
        draft = _of(thread_id, author, lock=True)
        if draft is None:
            raise NotFound("There is no draft of yours in this conversation.")
        draft_id = draft.id
        draft.delete()
        outbox.emit(DraftDiscarded(workspace_id=workspace_id, thread_id=thread_id, draft_id=draft_id))
        record(workspace_id=workspace_id, action="draft.discard", resource_kind="draft", resource_id=draft_id)


def current(*, thread_id: UUID, author: Actor, merged: Sequence[UUID] | None = None) -> Draft | None:
    """The author's draft in a conversation of the scope in sight; `merged` as `conversations.merged_into` has told."""
    return _of(thread_id, author, merged=merged)


def _of(thread_id: UUID, author: Actor, *, lock: bool = False, merged: Sequence[UUID] | None = None) -> Draft | None:
    rows = Draft.objects.select_for_update() if lock else Draft.objects.all()
    mine = rows.filter(author_kind=author.kind, author_id=author.id)
    # One that was begun in a conversation which was merged into this one meanwhile is not lost.
    threads = conversations.merged_into(thread_id) if merged is None else merged
    found = {draft.thread_id: draft for draft in mine.filter(thread_id__in=threads)}
    return found.get(thread_id) or next(iter(found.values()), None)

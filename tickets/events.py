"""Facts of the desk."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class ThreadTagEvent(DomainEvent):
    """Base of what happens to the labels of a conversation."""

    aggregate: ClassVar[str] = "thread_id"
    public: ClassVar[bool] = True

    thread_id: UUID
    tag_id: UUID
    name: str


@dataclass(frozen=True, kw_only=True)
class ThreadTagged(ThreadTagEvent):
    slug: ClassVar[str] = "thread.tagged"


@dataclass(frozen=True, kw_only=True)
class ThreadUntagged(ThreadTagEvent):
    slug: ClassVar[str] = "thread.untagged"


@dataclass(frozen=True, kw_only=True)
class NoteWritten(DomainEvent):
    """Somebody wrote an internal note. Its words are at `GET /threads/{id}/notes`."""

    slug: ClassVar[str] = "note.written"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "thread_id"

    thread_id: UUID
    note_id: UUID
    author_kind: str


@dataclass(frozen=True, kw_only=True)
class TagChanged(DomainEvent):
    """Base of what happens to a label itself."""

    aggregate: ClassVar[str] = "tag_id"
    public: ClassVar[bool] = True

    tag_id: UUID
    name: str


@dataclass(frozen=True, kw_only=True)
class TagCreated(TagChanged):
    slug: ClassVar[str] = "tag.created"


@dataclass(frozen=True, kw_only=True)
class TagUpdated(TagChanged):
    slug: ClassVar[str] = "tag.updated"


@dataclass(frozen=True, kw_only=True)
class TagDeleted(TagChanged):
    """The label is gone, from every conversation, too."""

    slug: ClassVar[str] = "tag.deleted"


@dataclass(frozen=True, kw_only=True)
class ViewChanged(DomainEvent):
    """A saved view was made, changed or deleted (`is_deleted`)."""

    slug: ClassVar[str] = "view.changed"
    aggregate: ClassVar[str] = "view_id"

    view_id: UUID
    is_deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class AnswerChanged(DomainEvent):
    """A canned answer was made, changed or deleted (`is_deleted`)."""

    slug: ClassVar[str] = "canned_answer.changed"
    aggregate: ClassVar[str] = "answer_id"

    answer_id: UUID
    is_deleted: bool = False

"""Facts about conversations: their arrangement, what people do with them, and what they write."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class ThreadCreated(DomainEvent):
    slug: ClassVar[str] = "thread.created"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "thread_id"

    thread_id: UUID
    inbox_id: UUID


@dataclass(frozen=True, kw_only=True)
class ThreadRearranged(DomainEvent):
    """Base of the facts about entries that a person put into another conversation, or back."""

    aggregate: ClassVar[str] = "thread_id"
    public: ClassVar[bool] = True

    thread_id: UUID
    target_thread_id: UUID
    inbox_id: UUID
    change_id: UUID
    entries: int


@dataclass(frozen=True, kw_only=True)
class ThreadMerged(ThreadRearranged):
    """All entries of `thread_id` are in `target_thread_id` now, where later mail to it lands as well."""

    slug: ClassVar[str] = "thread.merged"


@dataclass(frozen=True, kw_only=True)
class ThreadSplit(ThreadRearranged):
    """Some entries of `thread_id` are in the new `target_thread_id` now."""

    slug: ClassVar[str] = "thread.split"


@dataclass(frozen=True, kw_only=True)
class EntriesMoved(ThreadRearranged):
    """Some entries of `thread_id` are in `target_thread_id` now."""

    slug: ClassVar[str] = "thread.entries_moved"


@dataclass(frozen=True, kw_only=True)
class ThreadChangeUndone(ThreadRearranged):
    """A merge, split or move was undone: its entries are in `thread_id` again. A thread that a split had made is gone."""

    slug: ClassVar[str] = "thread.change_undone"


@dataclass(frozen=True, kw_only=True)
class ThreadChanged(DomainEvent):
    """Base of what people do with a conversation. Their aggregate is the thread, so they arrive in order."""

    aggregate: ClassVar[str] = "thread_id"
    public: ClassVar[bool] = True

    thread_id: UUID
    inbox_id: UUID
    status: str
    assignee_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class ThreadAssigned(ThreadChanged):
    """The conversation is somebody else's now, or nobody's (`assignee_id` is null)."""

    slug: ClassVar[str] = "thread.assigned"


@dataclass(frozen=True, kw_only=True)
class ThreadSnoozed(ThreadChanged):
    """It is out of sight until a time."""

    slug: ClassVar[str] = "thread.snoozed"


@dataclass(frozen=True, kw_only=True)
class ThreadWoken(ThreadChanged):
    """The time until which it rested has come."""

    slug: ClassVar[str] = "thread.woken"


@dataclass(frozen=True, kw_only=True)
class ThreadClosed(ThreadChanged):
    slug: ClassVar[str] = "thread.closed"


@dataclass(frozen=True, kw_only=True)
class ThreadReopened(ThreadChanged):
    """A person opened it again. New mail that opens one is `email.received`."""

    slug: ClassVar[str] = "thread.reopened"


@dataclass(frozen=True, kw_only=True)
class ThreadMarkedSpam(ThreadChanged):
    slug: ClassVar[str] = "thread.marked_spam"


@dataclass(frozen=True, kw_only=True)
class DraftSaved(DomainEvent):
    """Somebody is writing a reply; its words are not told."""

    slug: ClassVar[str] = "draft.saved"
    aggregate: ClassVar[str] = "thread_id"

    thread_id: UUID
    draft_id: UUID
    draft_version: int


@dataclass(frozen=True, kw_only=True)
class DraftDiscarded(DomainEvent):
    slug: ClassVar[str] = "draft.discarded"
    aggregate: ClassVar[str] = "thread_id"

    thread_id: UUID
    draft_id: UUID

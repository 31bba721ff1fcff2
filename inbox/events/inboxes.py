"""Facts about an inbox itself, and about the breakers of its automatic answers."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class InboxChanged(DomainEvent):
    """Base of the facts about an inbox itself."""

    aggregate: ClassVar[str] = "inbox_id"
    public: ClassVar[bool] = True

    inbox_id: UUID


@dataclass(frozen=True, kw_only=True)
class InboxCreated(InboxChanged):
    slug: ClassVar[str] = "inbox.created"


@dataclass(frozen=True, kw_only=True)
class InboxUpdated(InboxChanged):
    """Its name, agent, policy, custom metadata or activity has changed."""

    slug: ClassVar[str] = "inbox.updated"


@dataclass(frozen=True, kw_only=True)
class InboxDeleted(InboxChanged):
    """An operator has taken the inbox away; its address stays taken."""

    slug: ClassVar[str] = "inbox.deleted"


@dataclass(frozen=True, kw_only=True)
class InboxRestored(InboxChanged):
    """An operator has brought a deleted inbox back under its id."""

    slug: ClassVar[str] = "inbox.restored"


@dataclass(frozen=True, kw_only=True)
class LoopSuspected(DomainEvent):
    """Automatic answers are held back since a cap was reached; told once, when that begins. A person should look (FS-6)."""

    slug: ClassVar[str] = "inbox.loop_suspected"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "thread_id"

    inbox_id: UUID
    thread_id: UUID
    cap: str
    breaker_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class LoopCleared(InboxChanged):
    """A person has looked, and automatic answers are given again."""

    slug: ClassVar[str] = "inbox.loop_cleared"

    breaker_id: UUID

"""Facts about workspaces."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class WorkspaceProvisioned(DomainEvent):
    """A workspace was created by the account hook, the command line or the first owner."""

    slug: ClassVar[str] = "workspace.provisioned"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    external_id: UUID
    ref: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceChanged(DomainEvent):
    """Base of the facts about a workspace itself."""

    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    ref: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceUpdated(WorkspaceChanged):
    """Its name, time zone or custom metadata has changed."""

    slug: ClassVar[str] = "workspace.updated"


@dataclass(frozen=True, kw_only=True)
class WorkspaceDeleted(WorkspaceChanged):
    """An operator has put a tombstone on the workspace: nobody gets in, and its mail is kept unread."""

    slug: ClassVar[str] = "workspace.deleted"


@dataclass(frozen=True, kw_only=True)
class WorkspaceRestored(WorkspaceChanged):
    """An operator has taken the tombstone away."""

    slug: ClassVar[str] = "workspace.restored"

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

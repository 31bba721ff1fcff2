"""Facts about the people that a workspace knows."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class AddressSuppressed(DomainEvent):
    """The workspace no longer writes to an address. `reason` is bounce, complaint, soft_bounce or manual."""

    slug: ClassVar[str] = "contact.suppressed"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "suppression_id"

    suppression_id: UUID
    reason: str
    expires_at: str = ""


@dataclass(frozen=True, kw_only=True)
class SuppressionLifted(DomainEvent):
    """A person allowed mail to an address again."""

    slug: ClassVar[str] = "contact.suppression_lifted"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "suppression_id"

    suppression_id: UUID

"""Facts about connected accounts."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class ConnectionChanged(DomainEvent):
    """Base of what happens to a connected account. No secret is in any of them."""

    aggregate: ClassVar[str] = "connection_id"
    public: ClassVar[bool] = True

    connection_id: UUID
    provider: str
    state: str


@dataclass(frozen=True, kw_only=True)
class ConnectionCreated(ConnectionChanged):
    slug: ClassVar[str] = "connection.created"


@dataclass(frozen=True, kw_only=True)
class ConnectionUpdated(ConnectionChanged):
    """Its name, its configuration or its secret is another one."""

    slug: ClassVar[str] = "connection.updated"


@dataclass(frozen=True, kw_only=True)
class ConnectionConnected(ConnectionChanged):
    """The provider has let us in."""

    slug: ClassVar[str] = "connection.connected"


@dataclass(frozen=True, kw_only=True)
class ConnectionDegraded(ConnectionChanged):
    """It was connected, and the provider does not let us in or does not answer."""

    slug: ClassVar[str] = "connection.degraded"

    error_code: str


@dataclass(frozen=True, kw_only=True)
class ConnectionExpired(ConnectionChanged):
    """The time of its secret has come. Nothing is sent through it until there is a new one."""

    slug: ClassVar[str] = "connection.expired"


@dataclass(frozen=True, kw_only=True)
class ConnectionDisconnected(ConnectionChanged):
    """Somebody has disconnected it; its secret is gone."""

    slug: ClassVar[str] = "connection.disconnected"

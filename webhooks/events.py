"""Facts about webhooks themselves, for whoever watches an integration. But for a test-send, none goes to the very webhook
that it is about."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class WebhookCreated(DomainEvent):
    """Somebody has subscribed an endpoint to events."""

    slug: ClassVar[str] = "webhook.created"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID


@dataclass(frozen=True, kw_only=True)
class WebhookUpdated(DomainEvent):
    """A webhook's address, subscription, headers, order, rate or label is another one now."""

    slug: ClassVar[str] = "webhook.updated"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID


@dataclass(frozen=True, kw_only=True)
class WebhookSecretRotated(DomainEvent):
    """A webhook signs with a new secret; for a while the one before it signs beside it."""

    slug: ClassVar[str] = "webhook.secret_rotated"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID


@dataclass(frozen=True, kw_only=True)
class WebhookEnabled(DomainEvent):
    """An endpoint is called again, and gets what it missed if that was asked for."""

    slug: ClassVar[str] = "webhook.enabled"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID
    replayed: int


@dataclass(frozen=True, kw_only=True)
class WebhookDeleted(DomainEvent):
    """A webhook is gone, and what waited for it is cancelled."""

    slug: ClassVar[str] = "webhook.deleted"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID


@dataclass(frozen=True, kw_only=True)
class WebhookDisabled(DomainEvent):
    """An endpoint is not called any more: it answered 410, failed for too long, or somebody switched it off."""

    slug: ClassVar[str] = "webhook.disabled"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID
    reason: str


@dataclass(frozen=True, kw_only=True)
class DeliveryExhausted(DomainEvent):
    """A delivery failed at its last attempt. It can be replayed."""

    slug: ClassVar[str] = "webhook.delivery_exhausted"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID
    webhook_delivery_id: UUID
    system_event_id: UUID
    event_slug: str
    attempts: int
    last_status_code: int | None
    last_error: str


@dataclass(frozen=True, kw_only=True)
class WebhookTested(DomainEvent):
    """What a test-send carries. It goes to the tested endpoint only, whatever that endpoint subscribes to, and is tried once."""

    slug: ClassVar[str] = "webhook.test"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID
    message: str


@dataclass(frozen=True, kw_only=True)
class WebhookRestored(DomainEvent):
    """An operator has brought a deleted webhook back under its id: disabled, until somebody enables it."""

    slug: ClassVar[str] = "webhook.restored"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "webhook_id"

    webhook_id: UUID

"""Facts about what goes out, up to each recipient."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from inbox.types import DeliveryState
from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class EntryEvent(DomainEvent):
    """Base of the facts about an outgoing entry."""

    aggregate: ClassVar[str] = "entry_id"
    public: ClassVar[bool] = True

    entry_id: UUID
    thread_id: UUID
    inbox_id: UUID
    outbound_message_id: UUID


@dataclass(frozen=True, kw_only=True)
class EntryQueued(EntryEvent):
    """A reply is written and will be sent; the sender wakes on it."""

    slug: ClassVar[str] = "entry.queued"
    public: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class EntrySent(EntryEvent):
    """The transport has accepted the message."""

    slug: ClassVar[str] = "entry.sent"

    provider_ref: str


@dataclass(frozen=True, kw_only=True)
class SendFailed(EntryEvent):
    """The message was refused for good, or every attempt failed before acceptance."""

    slug: ClassVar[str] = "entry.failed"

    error: str


@dataclass(frozen=True, kw_only=True)
class SendUncertain(EntryEvent):
    """The transport may or may not have accepted the message; it is not sent again until a person or news decides."""

    slug: ClassVar[str] = "entry.uncertain"

    error: str


@dataclass(frozen=True, kw_only=True)
class RecipientEvent(EntryEvent):
    """Base of the facts about an outgoing entry at one recipient (`recipients` of the entry), each told once."""

    recipient_id: UUID


@dataclass(frozen=True, kw_only=True)
class EntryDelivered(RecipientEvent):
    """The recipient's mail server has the message."""

    slug: ClassVar[str] = "entry.delivered"


@dataclass(frozen=True, kw_only=True)
class EntryDelayed(RecipientEvent):
    """The recipient's mail server does not take the message for now; the provider goes on trying."""

    slug: ClassVar[str] = "entry.delayed"


@dataclass(frozen=True, kw_only=True)
class EntryBounced(RecipientEvent):
    """The message came back. `permanent`: that address takes no mail; `status` is of RFC 3463, where it is known."""

    slug: ClassVar[str] = "entry.bounced"

    permanent: bool
    status: str = ""


@dataclass(frozen=True, kw_only=True)
class EntryComplained(RecipientEvent):
    """The recipient reported the message as spam."""

    slug: ClassVar[str] = "entry.complained"


DELIVERY_NEWS: dict[DeliveryState, type[RecipientEvent]] = {
    DeliveryState.DELIVERED: EntryDelivered,
    DeliveryState.DELAYED: EntryDelayed,
    DeliveryState.BOUNCED: EntryBounced,
    DeliveryState.COMPLAINED: EntryComplained,
}


@dataclass(frozen=True, kw_only=True)
class ProviderEventReceived(DomainEvent):
    """A provider's callback about a message of ours is kept and waits to be applied."""

    slug: ClassVar[str] = "provider_event.received"
    aggregate: ClassVar[str] = "provider_event_id"

    provider_event_id: UUID

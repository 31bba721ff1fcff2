"""Facts about mail and conversations. Public ones are what integrators subscribe to."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from inbox.types import DeliveryState, EmailState
from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class MessageStored(DomainEvent):
    """Raw bytes from outside are safe in the database and wait for the ingest."""

    slug: ClassVar[str] = "inbound_message.stored"
    aggregate: ClassVar[str] = "inbound_message_id"

    inbound_message_id: UUID


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
class EmailReceived(DomainEvent):
    """A mail is in its thread. `mail_class` is human, auto_reply, bounce, list or self."""

    slug: ClassVar[str] = "email.received"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "thread_id"

    email_id: UUID
    inbox_id: UUID
    thread_id: UUID
    entry_id: UUID
    contact_id: UUID | None
    mail_class: str
    may_auto_answer: bool


@dataclass(frozen=True, kw_only=True)
class EmailChanged(DomainEvent):
    """Base of the transitions of an e-mail (S0-18). Their aggregate is the e-mail, so they arrive in order."""

    aggregate: ClassVar[str] = "email_id"
    public: ClassVar[bool] = True
    state: ClassVar[EmailState]

    email_id: UUID
    inbox_id: UUID
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class EmailStored(EmailChanged):
    """A mail has been accepted for an inbox, or released from quarantine; it is safe and will be read."""

    slug: ClassVar[str] = "email.stored"
    state: ClassVar[EmailState] = EmailState.STORED


@dataclass(frozen=True, kw_only=True)
class EmailParsed(EmailChanged):
    """A mail has been read. What became of it follows: email.received, email.ignored or email.quarantined."""

    slug: ClassVar[str] = "email.parsed"
    state: ClassVar[EmailState] = EmailState.PARSED


@dataclass(frozen=True, kw_only=True)
class EmailQueued(EmailChanged):
    slug: ClassVar[str] = "email.queued"
    state: ClassVar[EmailState] = EmailState.QUEUED


@dataclass(frozen=True, kw_only=True)
class EmailRunning(EmailChanged):
    slug: ClassVar[str] = "email.running"
    state: ClassVar[EmailState] = EmailState.RUNNING


@dataclass(frozen=True, kw_only=True)
class EmailWaitingApproval(EmailChanged):
    slug: ClassVar[str] = "email.waiting_approval"
    state: ClassVar[EmailState] = EmailState.WAITING_APPROVAL


@dataclass(frozen=True, kw_only=True)
class EmailHandedOver(EmailChanged):
    """No agent will answer: the mail rests in its thread and waits for a person."""

    slug: ClassVar[str] = "email.handed_over"
    state: ClassVar[EmailState] = EmailState.THREADED


@dataclass(frozen=True, kw_only=True)
class EmailHandled(EmailChanged):
    slug: ClassVar[str] = "email.handled"
    state: ClassVar[EmailState] = EmailState.HANDLED


@dataclass(frozen=True, kw_only=True)
class EmailIgnored(EmailChanged):
    slug: ClassVar[str] = "email.ignored"
    state: ClassVar[EmailState] = EmailState.IGNORED


@dataclass(frozen=True, kw_only=True)
class EmailQuarantined(EmailChanged):
    slug: ClassVar[str] = "email.quarantined"
    state: ClassVar[EmailState] = EmailState.QUARANTINED


@dataclass(frozen=True, kw_only=True)
class EmailFailed(EmailChanged):
    slug: ClassVar[str] = "email.failed"
    state: ClassVar[EmailState] = EmailState.FAILED


TRANSITIONS: dict[EmailState, type[EmailChanged]] = {
    cls.state: cls
    for cls in (
        EmailStored,
        EmailParsed,
        EmailQueued,
        EmailRunning,
        EmailWaitingApproval,
        EmailHandedOver,
        EmailHandled,
        EmailIgnored,
        EmailQuarantined,
        EmailFailed,
    )
}


@dataclass(frozen=True, kw_only=True)
class EmailUpdated(DomainEvent):
    """Somebody has changed the custom metadata of a received mail."""

    slug: ClassVar[str] = "email.updated"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "email_id"

    email_id: UUID
    inbox_id: UUID


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
class AttachmentChanged(DomainEvent):
    """Base of the facts about an attachment."""

    aggregate: ClassVar[str] = "attachment_id"
    public: ClassVar[bool] = True

    attachment_id: UUID
    email_id: UUID | None
    entry_id: UUID


@dataclass(frozen=True, kw_only=True)
class AttachmentDeleted(AttachmentChanged):
    """An operator has taken the attachment away."""

    slug: ClassVar[str] = "attachment.deleted"


@dataclass(frozen=True, kw_only=True)
class AttachmentRestored(AttachmentChanged):
    """An operator has brought a deleted attachment back under its id."""

    slug: ClassVar[str] = "attachment.restored"


@dataclass(frozen=True, kw_only=True)
class MessageQuarantined(DomainEvent):
    """An accepted delivery could not be read safely; its bytes are kept and can be replayed."""

    slug: ClassVar[str] = "inbound_message.quarantined"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "inbound_message_id"

    inbound_message_id: UUID
    reason: str


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

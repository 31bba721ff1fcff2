"""Facts about what comes in: messages, e-mails and their attachments."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from inbox.types import EmailState
from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class MessageStored(DomainEvent):
    """Raw bytes from outside are safe in the database and wait for the ingest."""

    slug: ClassVar[str] = "inbound_message.stored"
    aggregate: ClassVar[str] = "inbound_message_id"

    inbound_message_id: UUID


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

from inbox.models.address import InboxAddress
from inbox.models.attachment import Attachment
from inbox.models.breaker import CircuitBreaker
from inbox.models.change import ThreadChange
from inbox.models.connection import Connection, ConnectionCredential
from inbox.models.email import Email, InboundMessage, MessageReference
from inbox.models.entry import Entry, EntryDeliveryEvent, EntryRecipient
from inbox.models.image import RemoteImage
from inbox.models.inbox import Inbox
from inbox.models.outbound import AutoReplyQuota, OutboundMessage
from inbox.models.thread import Thread, ThreadParticipant, ThreadReadState
from inbox.models.writing import Draft

__all__ = [
    "Attachment",
    "AutoReplyQuota",
    "CircuitBreaker",
    "Connection",
    "ConnectionCredential",
    "Draft",
    "Email",
    "Entry",
    "EntryDeliveryEvent",
    "EntryRecipient",
    "InboundMessage",
    "Inbox",
    "InboxAddress",
    "MessageReference",
    "OutboundMessage",
    "RemoteImage",
    "Thread",
    "ThreadChange",
    "ThreadParticipant",
    "ThreadReadState",
]

from inbox.models.attachment import Attachment
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
    "Connection",
    "ConnectionCredential",
    "Draft",
    "Email",
    "Entry",
    "EntryDeliveryEvent",
    "EntryRecipient",
    "InboundMessage",
    "Inbox",
    "MessageReference",
    "OutboundMessage",
    "RemoteImage",
    "Thread",
    "ThreadParticipant",
    "ThreadReadState",
]

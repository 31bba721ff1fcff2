"""What the lists of the inbox API may be narrowed by."""

from django_filters import CharFilter, UUIDFilter

from inbox.types import Direction, EmailState, MailClass, ThreadStatus
from kernel.api.filters import Changeable, Filters, choice, flag


class InboxFilters(Changeable):
    active = flag("active")
    agent_id = UUIDFilter("agent_id")
    external_id = UUIDFilter("external_id")
    address = CharFilter("address", max_length=320)


class EmailFilters(Filters):
    state = choice(EmailState, "state")
    mail_class = choice(MailClass, "mail_class")
    inbox_id = UUIDFilter("inbox_id")
    message_id = CharFilter("message_id", max_length=200, help_text="The provider's id.")


class ThreadFilters(Filters):
    status = choice(ThreadStatus, "status")
    inbox_id = UUIDFilter("inbox_id")


class EntryFilters(Filters):
    direction = choice(Direction, "direction")


class AttachmentFilters(Filters):
    email_id = UUIDFilter("email_id")
    entry_id = UUIDFilter("entry_id")

"""The console's pages of conversations and mail."""

from inbox.admin import connections as connections
from inbox.admin import inboxes as inboxes
from inbox.admin import mail as mail
from inbox.admin import threads as threads

from django.db import models

from inbox.models.inbox import Inbox
from tenancy.scoping import WorkspaceOwned


class InboxAddress(WorkspaceOwned):
    """A further address of an inbox. `*@example.com` is every address of that domain that nothing else takes.

    One address is one inbox's in the whole installation, whether as its own or as a further one: a trigger looks at both
    tables (inbox/sql/addresses_v1.sql).
    """

    inbox_path = "inbox_id"

    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="addresses", db_constraint=False, db_index=False)
    address = models.CharField(max_length=320)
    address_normalized = models.CharField(max_length=320, unique=True)

    class Meta(WorkspaceOwned.Meta):
        verbose_name_plural = "inbox addresses"
        # Those of an inbox.
        indexes = [models.Index(fields=["inbox"], name="inbox_address_by_inbox")]

    def __str__(self) -> str:
        return self.address

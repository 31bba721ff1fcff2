from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from inbox.models.entry import Entry
from inbox.models.inbox import Inbox
from inbox.types import SendState
from tenancy.scoping import WorkspaceOwned


class OutboundMessage(WorkspaceOwned):
    """A message on its way out: the exact bytes, and a state that never lets it leave twice.

    `sending` is committed before the transport is called; a worker that dies there leaves `sending` behind, which
    becomes `uncertain` when its lease ends, because the other side may have accepted the message (CM-5).
    """

    inbox_path = "inbox_id"

    entry = models.OneToOneField(Entry, models.PROTECT, related_name="outbound", db_constraint=False)
    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="+", db_constraint=False)
    idempotency_key = models.CharField(max_length=255)
    message_id = models.TextField(help_text="Our own RFC 5322 Message-ID, with a signed token.")
    envelope_from = models.CharField(max_length=320, blank=True)
    envelope_to = ArrayField(models.CharField(max_length=320))
    raw = models.BinaryField()
    is_automatic = models.BooleanField(default=True)
    state = models.CharField(max_length=10, choices=SendState, db_default=SendState.QUEUED)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    due_at = models.DateTimeField(db_default=Now(), help_text="Next attempt, or the end of the lease while sending.")
    lease_token = models.PositiveIntegerField(db_default=0, help_text="Rises with each claim; fences late writers.")
    generation = models.PositiveIntegerField(
        db_default=0, help_text="Of the workspace's control state, when it was last claimed."
    )
    provider_ref = models.CharField(max_length=200, blank=True, db_default="")
    last_error = models.CharField(max_length=500, blank=True, db_default="")
    sent_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "idempotency_key"], name="inbox_one_send_per_key"),
        ]
        indexes = [
            # The sender's claim, and the sweep of leases that ended.
            models.Index(
                fields=["due_at"], name="inbox_outbound_due", condition=models.Q(state__in=["queued", "sending"])
            ),
            # The message that a provider's news is about.
            models.Index(
                fields=["provider_ref"], name="inbox_outbound_reference", condition=~models.Q(provider_ref="")
            ),
            # "What a person must look at": the console's badge and page.
            models.Index(
                fields=["workspace"],
                name="inbox_outbound_stuck",
                condition=models.Q(state__in=["failed", "uncertain"]),
            ),
        ]

    def __str__(self) -> str:
        return self.message_id


class AutoReplyQuota(models.Model):
    """How many automatic answers a thread, sender, inbox or workspace has had in a window.

    Raised by one conditional upsert, so that parallel runs cannot pass a cap together (FS-6).
    """

    workspace_id = models.UUIDField()
    scope = models.CharField(max_length=10, help_text="thread, sender, inbox or workspace.")
    key = models.CharField(max_length=400)
    window = models.DateTimeField(help_text="Start of the window.")
    used = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "scope", "key", "window"], name="inbox_one_quota_row_per_window"
            )
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key}: {self.used}"

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from inbox.models.entry import Entry
from inbox.models.inbox import Inbox
from inbox.types import EmailState, MailClass, MessageState, ReferenceKind
from tenancy.scoping import SoftDeletable, SystemKept, WorkspaceOwned


class InboundMessage(WorkspaceOwned):
    """One accepted delivery from outside, byte for byte, stored before anything looks inside (X-5).

    Also the queue of the ingest: a row is work while its state is `stored`. `attempts` is counted before parsing, so
    that a message which kills its worker is quarantined and never blocks the next (FS-1).
    """

    source = models.CharField(max_length=8, help_text="ses, smtp, lmtp, api or file.")
    provider_message_id = models.CharField(max_length=200)
    raw = models.BinaryField()
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    envelope_from = models.CharField(max_length=320, blank=True)
    recipients = ArrayField(models.CharField(max_length=320), help_text="Envelope recipients of this workspace only.")
    verdicts = models.JSONField(default=dict, help_text="Authentication results as the receiver gave them.")
    received_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=12, choices=MessageState, db_default=MessageState.STORED)
    reason = models.CharField(max_length=200, blank=True, db_default="")
    attempts = models.PositiveSmallIntegerField(db_default=0)
    due_at = models.DateTimeField(
        db_default=Now(), help_text="When a worker may take it: its retry, or its lease's end."
    )
    lease_token = models.PositiveIntegerField(db_default=0, help_text="Rises with each claim; fences late writers.")
    deliveries = models.PositiveIntegerField(db_default=1, help_text="How often it was handed in.")
    location = models.CharField(
        max_length=1200, blank=True, db_default="", help_text="Where its bytes are while they are not here: bucket/key."
    )

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "source", "provider_message_id"], name="inbox_one_message_per_provider_id"
            )
        ]
        indexes = [
            # The ingest worker's claim.
            models.Index(fields=["due_at"], name="inbox_message_due", condition=models.Q(state="stored")),
            # The quarantine page.
            models.Index(
                fields=["workspace", "-received_at"],
                name="inbox_message_quarantine",
                condition=models.Q(state="quarantined"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source}:{self.provider_message_id}"


class Email(SoftDeletable, SystemKept):
    """One received message in one inbox, with its processing state (S0-8). Its body is its Entry's."""

    inbox_path = "inbox_id"

    inbound_message = models.ForeignKey(
        InboundMessage, models.PROTECT, related_name="emails", db_constraint=False, db_index=False
    )
    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="emails", db_constraint=False, db_index=False)
    message_id = models.CharField(max_length=200, help_text="The provider's id (SES messageId), not the RFC 5322 one.")
    state = models.CharField(max_length=16, choices=EmailState, db_default=EmailState.RECEIVED)
    state_reason = models.CharField(max_length=200, blank=True, db_default="")
    mail_class = models.CharField(max_length=12, choices=MailClass, db_default=MailClass.HUMAN)
    class_reason = models.CharField(max_length=200, blank=True, db_default="")
    may_auto_answer = models.BooleanField(db_default=False)
    subject = models.TextField(blank=True)
    from_name = models.TextField(blank=True)
    from_address = models.CharField(max_length=320, blank=True)
    reply_to = models.JSONField(default=list)
    to = models.JSONField(default=list)
    cc = models.JSONField(default=list)
    date = models.DateTimeField(null=True)
    rfc_message_id = models.TextField(blank=True)
    in_reply_to = models.JSONField(default=list)
    references = models.JSONField(default=list, db_column="reference_ids")
    warnings = models.JSONField(default=list)
    verdicts = models.JSONField(default=dict)
    hops = models.PositiveSmallIntegerField(db_default=0)
    received_at = models.DateTimeField()

    class Meta(SoftDeletable.Meta):
        constraints = [
            models.UniqueConstraint(fields=["inbound_message", "inbox"], name="inbox_one_email_per_message_and_inbox")
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_email_list"),
            models.Index(fields=["workspace", "state", "-created_at"], name="inbox_email_by_state"),
        ]

    def __str__(self) -> str:
        return self.subject or "(no subject)"


class MessageReference(models.Model):
    """Every Message-ID ever seen, and the entry that it belongs to or cites: the index of threading (CW-1)."""

    workspace_id = models.UUIDField()
    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    entry = models.ForeignKey(Entry, models.CASCADE, related_name="message_references", db_constraint=False)
    message_id_hash = models.BinaryField(max_length=32)
    message_id = models.TextField()
    kind = models.CharField(max_length=12, choices=ReferenceKind)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["inbox", "message_id_hash", "entry", "kind"], name="inbox_one_reference_per_entry_and_kind"
            )
        ]
        indexes = [models.Index(fields=["workspace_id", "message_id_hash"], name="inbox_reference_lookup")]

    def __str__(self) -> str:
        return self.message_id

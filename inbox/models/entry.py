from django.db import models
from django.db.models.functions import Now

from inbox.models.inbox import Inbox
from inbox.models.thread import Thread
from inbox.types import Channel, DeliveryState, Direction, MailClass, OutboundKind
from tenancy.scoping import WorkspaceOwned

# From a sequence, never from a counter row: a counter would be the hottest row of the installation.
NEXT_SEQ = models.Func(models.Value("inbox_entry_seq"), function="nextval", output_field=models.BigIntegerField())


class Entry(WorkspaceOwned):
    """One message or event in a thread. `seq`, taken under the thread's lock, is the only order (S1-14, X-29)."""

    inbox_path = "inbox_id"

    seq = models.BigIntegerField(unique=True, editable=False, db_default=NEXT_SEQ)
    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    thread = models.ForeignKey(Thread, models.PROTECT, related_name="entries", db_constraint=False, db_index=False)
    email = models.OneToOneField("inbox.Email", models.PROTECT, null=True, related_name="entry", db_constraint=False)
    direction = models.CharField(max_length=8, choices=Direction)
    outbound_kind = models.CharField(max_length=10, choices=OutboundKind, blank=True, db_default="")
    mail_class = models.CharField(max_length=12, choices=MailClass, db_default=MailClass.HUMAN)
    channel = models.CharField(max_length=12, choices=Channel, db_default=Channel.EMAIL)
    provider_entry_key = models.CharField(max_length=300)
    author_kind = models.CharField(max_length=20, help_text="contact, user, agent or system.")
    author_id = models.CharField(max_length=80, blank=True, db_default="")
    author_label = models.TextField(blank=True, db_default="")
    contact = models.ForeignKey("contacts.Contact", models.PROTECT, null=True, related_name="+", db_index=False)
    in_reply_to = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_constraint=False)
    subject = models.TextField(blank=True, db_default="")
    body_text = models.TextField(blank=True, db_default="")
    extracted_text = models.TextField(blank=True, db_default="", help_text="The text without quotes and signature.")
    body_html = models.TextField(blank=True, db_default="", help_text="Sanitised when it was stored.")
    sent_at_provider = models.DateTimeField(null=True)
    occurred_at = models.DateTimeField(db_default=Now())
    response_time_seconds = models.PositiveIntegerField(null=True)
    response_business_seconds = models.PositiveIntegerField(null=True)
    delivery_state = models.CharField(max_length=12, choices=DeliveryState, blank=True, db_default="")
    thread_decision = models.JSONField(default=dict, help_text="The rule, the evidence and the confidence.")

    class Meta(WorkspaceOwned.Meta):
        verbose_name_plural = "entries"
        constraints = [
            models.UniqueConstraint(fields=["inbox", "provider_entry_key"], name="inbox_one_entry_per_provider_key"),
            models.CheckConstraint(
                condition=models.Q(direction="outbound")
                | models.Q(response_time_seconds=None, response_business_seconds=None, outbound_kind=""),
                name="inbox_only_outbound_answers",
            ),
        ]
        indexes = [
            # A conversation in order.
            models.Index(fields=["thread", "seq"], name="inbox_entry_conversation"),
            # The workspace's feed.
            models.Index(fields=["workspace", "seq"], name="inbox_entry_feed"),
        ]

    def __str__(self) -> str:
        return f"{self.direction} #{self.seq}"


class EntryDeliveryEvent(WorkspaceOwned):
    """What became of an outgoing message, as providers report it: sent, delivered, bounced, complained, read."""

    entry = models.ForeignKey(Entry, models.PROTECT, related_name="delivery_events", db_constraint=False)
    kind = models.CharField(max_length=12)
    provider_event_id = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())
    detail = models.JSONField(default=dict)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider_event_id", "kind"], name="inbox_one_delivery_event_per_provider_event"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d %H:%M}"


class EntryRecipient(WorkspaceOwned):
    """The furthest that an outgoing entry has come at one recipient. Written by news only: before it, the entry's counts.

    A trigger refuses to go back, since news arrives in any order.
    """

    entry = models.ForeignKey(Entry, models.PROTECT, related_name="recipients", db_constraint=False, db_index=False)
    address = models.CharField(max_length=320)
    state = models.CharField(max_length=12, choices=DeliveryState)
    status_code = models.CharField(max_length=20, blank=True, db_default="", help_text="RFC 3463, such as 5.1.1.")
    diagnostic = models.CharField(max_length=500, blank=True, db_default="", help_text="The other server's words.")
    at = models.DateTimeField()

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["entry", "address"], name="inbox_one_state_per_recipient"),
        ]
        indexes = [
            # How often mail to an address came back lately.
            models.Index(fields=["workspace", "address", "-at"], name="inbox_recipient_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.address}: {self.state}"

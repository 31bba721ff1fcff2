from django.db import models
from django.db.models.functions import Now

from inbox.models.inbox import Inbox
from inbox.types import ThreadStatus
from tenancy.scoping import WorkspaceOwned


class Thread(WorkspaceOwned):
    """A conversation. Its counters and `last_entry_seq` are kept by the ingest, so that lists never count or group."""

    inbox_path = "inbox_id"

    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="threads", db_constraint=False, db_index=False)
    provider_thread_key = models.CharField(max_length=300)
    subject = models.TextField(blank=True)
    contact = models.ForeignKey("contacts.Contact", models.PROTECT, null=True, related_name="+")
    status = models.CharField(max_length=8, choices=ThreadStatus, db_default=ThreadStatus.OPEN)
    assignee = models.ForeignKey(
        "tenancy.Membership", models.PROTECT, null=True, related_name="+", db_constraint=False, db_index=False
    )
    first_unanswered_inbound_at = models.DateTimeField(null=True)
    last_entry_seq = models.BigIntegerField(db_default=0)
    last_entry_at = models.DateTimeField(db_default=Now())
    entry_count = models.PositiveIntegerField(db_default=0)
    preview = models.CharField(max_length=200, blank=True, db_default="")
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="+", db_constraint=False, db_index=False
    )
    snoozed_until = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["inbox", "provider_thread_key"], name="inbox_one_thread_per_provider_key"),
            models.CheckConstraint(
                condition=models.Q(merged_into=None) | ~models.Q(merged_into=models.F("id")),
                name="inbox_thread_not_merged_into_itself",
            ),
            # Whoever sets one without the other makes a conversation that never wakes.
            models.CheckConstraint(
                condition=models.Q(status="snoozed", snoozed_until__isnull=False)
                | (~models.Q(status="snoozed") & models.Q(snoozed_until=None)),
                name="inbox_thread_snoozed_until_a_time",
            ),
        ]
        indexes = [
            # The inbox list, newest conversation first: all of them, and those of one status.
            models.Index(fields=["workspace", "-last_entry_seq"], name="inbox_thread_newest"),
            models.Index(fields=["workspace", "status", "-last_entry_seq"], name="inbox_thread_list"),
            models.Index(fields=["inbox", "-last_entry_seq"], name="inbox_thread_by_inbox"),
            models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_thread_by_age"),
            # "Who waits for an answer, longest first".
            models.Index(
                fields=["workspace", "first_unanswered_inbound_at"],
                name="inbox_thread_unanswered",
                condition=models.Q(first_unanswered_inbound_at__isnull=False),
            ),
            # "What is mine".
            models.Index(
                fields=["assignee", "status", "-last_entry_seq"],
                name="inbox_thread_by_assignee",
                condition=models.Q(assignee__isnull=False),
            ),
            # The alarm clock.
            models.Index(
                fields=["snoozed_until"], name="inbox_thread_alarm", condition=models.Q(snoozed_until__isnull=False)
            ),
            # What was merged into it.
            models.Index(
                fields=["merged_into"], name="inbox_thread_merged", condition=models.Q(merged_into__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.subject or "(no subject)"


class ThreadParticipant(models.Model):
    """An address that took part in a conversation: the wrong-person check of threading asks this table (CW-2)."""

    workspace_id = models.UUIDField()
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="participants", db_constraint=False, db_index=False)
    contact = models.ForeignKey("contacts.Contact", models.PROTECT, null=True, related_name="+", db_index=False)
    address = models.CharField(max_length=320)
    role = models.CharField(max_length=10, help_text="requester, cc, recipient or agent.")
    source = models.CharField(max_length=10, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "address", "role"], name="inbox_one_participant_per_role")
        ]

    def __str__(self) -> str:
        return self.address


class ThreadReadState(WorkspaceOwned):
    """How far a member has read a conversation. It only goes on: a trigger refuses to take it back."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="read_states", db_constraint=False, db_index=False)
    membership = models.ForeignKey(
        "tenancy.Membership", models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    last_read_seq = models.BigIntegerField(default=0)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["thread", "membership"], name="inbox_one_read_state_per_member")]

    def __str__(self) -> str:
        return f"read up to #{self.last_read_seq}"

from django.db import models

from agents.models.intent import ActionIntent
from agents.types import ApprovalState, Risk
from tenancy.scoping import WorkspaceOwned


class ApprovalRequest(WorkspaceOwned):
    """A question to a person, bound to exact content by hash, with an end, and good for one use (S3-34, AG-9)."""

    intent = models.ForeignKey(ActionIntent, models.PROTECT, related_name="approvals", db_constraint=False)
    action = models.CharField(max_length=60)
    risk = models.CharField(max_length=8, choices=Risk)
    reason = models.CharField(max_length=300, help_text="Why a person is asked.")
    snapshot = models.JSONField(help_text="The exact content that is asked for.")
    content_hash = models.BinaryField(max_length=32)
    requested_by = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=ApprovalState, default=ApprovalState.PENDING)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by_kind = models.CharField(max_length=20, blank=True)
    decided_by_id = models.CharField(max_length=80, blank=True)
    decided_by_label = models.CharField(max_length=200, blank=True)
    comment = models.TextField(blank=True)
    edited = models.BooleanField(default=False, help_text="The person changed the content before approving.")
    consumed_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["intent"], condition=models.Q(state="pending"), name="agents_one_open_question_per_intent"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["pending", "expired", "withdrawn"]) | models.Q(decided_at__isnull=False),
                name="agents_decided_approval_has_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "expires_at"], name="agents_approval_open", condition=models.Q(state="pending")
            ),
            models.Index(fields=["workspace", "-created_at", "-id"], name="agents_approval_list"),
            models.Index(fields=["workspace", "expires_at", "id"], name="agents_approval_by_end"),
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.state}"

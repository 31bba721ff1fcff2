from django.db import models
from django.db.models.functions import Now

from tenancy.scoping import WorkspaceOwned
from webhooks.models.subscription import Webhook
from webhooks.models.system_event import SystemEvent
from webhooks.types import DeliveryStatus


class WebhookDelivery(WorkspaceOwned):
    """One event on its way to one endpoint. The row is the queue: claimed with a lease, retried until final."""

    # Each index is paid for at both writes of a row. The unique constraint below begins with the webhook and serves both
    # references; the paired key of the webhook implies that of the workspace.
    workspace = models.ForeignKey(
        "tenancy.Workspace", models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    webhook = models.ForeignKey(Webhook, models.PROTECT, related_name="deliveries", db_constraint=False, db_index=False)
    system_event = models.ForeignKey(
        SystemEvent, models.PROTECT, related_name="deliveries", db_constraint=False, db_index=False
    )
    replay_no = models.PositiveSmallIntegerField(default=0)
    sequence = models.BigIntegerField(null=True, help_text="Place in the order of an ordered webhook; else null.")
    status = models.CharField(max_length=10, choices=DeliveryStatus, db_default=DeliveryStatus.PENDING)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    due_at = models.DateTimeField(db_default=Now(), help_text="Next attempt.")
    # Outside of all indexes, so that a claim writes the row in its place and no index.
    lease_until = models.DateTimeField(null=True, help_text="While it is being delivered: the end of the lease.")
    lease_token = models.PositiveIntegerField(db_default=0, help_text="Rises with each claim; fences late writers.")
    last_status_code = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=300, blank=True, db_default="")
    delivered_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["webhook", "system_event", "replay_no"], name="webhooks_one_delivery_per_event_and_replay"
            ),
            models.CheckConstraint(
                condition=models.Q(status="pending") | models.Q(lease_until=None),
                name="webhooks_only_waiting_is_leased",
            ),
        ]
        indexes = [
            # The dispatcher's claim, fair between endpoints: the oldest due rows of each webhook.
            models.Index(
                fields=["webhook", "due_at"],
                name="webhooks_delivery_due",
                condition=models.Q(status="pending"),
            ),
            # The head of an ordered webhook: nothing overtakes it. Other webhooks have no row here.
            models.Index(
                fields=["webhook", "sequence", "replay_no"],
                name="webhooks_delivery_order",
                condition=models.Q(status="pending", sequence__isnull=False),
            ),
            models.Index(fields=["workspace", "-created_at", "-id"], name="webhooks_delivery_list"),
        ]

    def __str__(self) -> str:
        return f"{self.status} after {self.attempts}"


class WebhookAttempt(models.Model):
    """One request and its answer. Kept for a while, then pruned."""

    workspace_id = models.UUIDField()
    delivery = models.ForeignKey(WebhookDelivery, models.CASCADE, related_name="attempt_rows", db_constraint=False)
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())
    duration_ms = models.PositiveIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)
    response_excerpt = models.TextField(blank=True, help_text="At most the first 1,000 characters; staff only.")

    def __str__(self) -> str:
        return f"attempt {self.number}: {self.status_code or self.error}"

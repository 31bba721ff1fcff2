from django.db import models
from django.db.models.functions import Now

from tenancy.scoping import WorkspaceOwned
from webhooks.types import ProviderEventStatus


class ProviderEvent(WorkspaceOwned):
    """A callback of a provider that was proven genuine, kept as it came, each fact once (S3-64, X-9).

    It belongs to the workspace of what it is about, or to the estate's while nobody knows.
    """

    provider = models.CharField(max_length=20)
    provider_event_id = models.CharField(max_length=200, help_text="The provider's own name for this message.")
    # The same fact in another envelope: a second topic, or the provider's other format.
    content_key = models.BinaryField(max_length=32)
    kind = models.CharField(max_length=40)
    subject_ref = models.CharField(max_length=200, blank=True, help_text="The provider's id of what it is about.")
    signature = models.CharField(max_length=40, blank=True, help_text="How it was proven.")
    payload = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=ProviderEventStatus, db_default=ProviderEventStatus.RECEIVED)
    reason = models.CharField(max_length=200, blank=True, db_default="")
    received_at = models.DateTimeField(db_default=Now())
    deliveries = models.PositiveIntegerField(db_default=1, help_text="How often it was handed in.")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["provider", "provider_event_id"], name="webhooks_one_row_per_callback"),
            models.UniqueConstraint(fields=["provider", "content_key"], name="webhooks_one_row_per_provider_fact"),
        ]
        indexes = [
            # The console's list.
            models.Index(fields=["workspace", "-received_at", "-id"], name="webhooks_provider_event_list"),
            # What came before the row that it is about was written.
            models.Index(
                fields=["provider", "received_at"],
                name="webhooks_provider_unmatched",
                condition=models.Q(status="unmatched"),
            ),
            # Retention.
            models.Index(fields=["received_at"], name="webhooks_provider_retention"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.kind}"

from django.contrib.postgres.fields import ArrayField
from django.db import models

from kernel.sealed import SealedField
from tenancy.scoping import SoftDeletable, SystemKept
from webhooks.types import WebhookState


class Webhook(SoftDeletable, SystemKept):
    """A subscription of an endpoint to event slugs; its label is not unique (S0-11, S0-34)."""

    label = models.CharField(max_length=200, blank=True)
    url = models.CharField(max_length=2000)
    slugs = ArrayField(models.CharField(max_length=80), help_text="Event slugs; email.* and * stand for sets.")
    # Envelopes of kernel.crypto, bound to this row: the present secret, and the one before it during a rotation.
    secret_sealed = SealedField(purpose="secret")
    previous_secret_sealed = SealedField(purpose="secret", null=True)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    headers = models.JSONField(default=dict, blank=True, help_text="Further headers of each request.")
    ordered = models.BooleanField(default=False, help_text="Deliver one after the other, in the order of the events.")
    rate_per_second = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=WebhookState, default=WebhookState.ACTIVE)
    disabled_reason = models.CharField(max_length=200, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True, help_text="First failure after the last success.")
    # A failure is noted only now and then, not at every attempt: see services/health.py.
    failure_noted_at = models.DateTimeField(null=True, editable=False)
    failures_noted = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta(SoftDeletable.Meta):
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="webhooks_webhook_list")]

    def __str__(self) -> str:
        return self.label or self.url

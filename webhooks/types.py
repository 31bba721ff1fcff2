"""States of webhooks and deliveries."""

from django.db.models import TextChoices


class WebhookState(TextChoices):
    ACTIVE = "active"
    DISABLED = "disabled"


class DeliveryStatus(TextChoices):
    PENDING = "pending"
    DELIVERING = "delivering"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"

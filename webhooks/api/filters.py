"""What the lists of the webhook API may be narrowed by."""

from typing import Any

from django.db.models import QuerySet
from django_filters import CharFilter, UUIDFilter

from kernel.api.filters import Changeable, Filters, choice
from webhooks.types import DeliveryStatus, WebhookState


class WebhookFilters(Changeable):
    state = choice(WebhookState, "state")
    label = CharFilter("label", max_length=200)


class DeliveryFilters(Filters):
    webhook_id = UUIDFilter("webhook_id", help_text="Only deliveries of this webhook.")
    system_event_id = UUIDFilter("system_event_id", help_text="Only deliveries of this event.")
    status = choice(DeliveryStatus, "status")


class EventFilters(Filters):
    slug = CharFilter(method="of_slug", max_length=80, help_text="A slug, or a family such as `email.*`.")

    def of_slug(self, rows: "QuerySet[Any]", _name: str, slug: str) -> "QuerySet[Any]":
        """Of one slug, or of a family."""
        return rows.filter(slug__startswith=slug[:-1]) if slug.endswith(".*") else rows.filter(slug=slug)

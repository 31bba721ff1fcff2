"""Lists of the current scope, for the API and the console."""

from uuid import UUID

from django.db.models import F, Prefetch, QuerySet

from kernel.errors import NotFound
from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery


def webhooks() -> "QuerySet[Webhook]":
    """The live webhooks; their sealed secrets stay in the database."""
    return Webhook.objects.defer("secret_sealed", "previous_secret_sealed")


def deliveries() -> "QuerySet[WebhookDelivery]":
    """Deliveries with the slug of their event."""
    return WebhookDelivery.objects.annotate(slug=F("system_event__slug"))


def delivery(delivery_id: UUID) -> WebhookDelivery:
    """One delivery with its attempts, oldest first, without what the endpoint answered (that is for staff)."""
    attempts = WebhookAttempt.objects.defer("response_excerpt").order_by("number", "id")
    found = deliveries().prefetch_related(Prefetch("attempt_rows", queryset=attempts)).filter(id=delivery_id).first()
    if found is None:
        raise NotFound
    return found


def system_events() -> "QuerySet[SystemEvent]":
    """The public events."""
    return SystemEvent.objects.all()


def system_event(event_id: UUID) -> SystemEvent:
    found = system_events().filter(id=event_id).first()
    if found is None:
        raise NotFound
    return found

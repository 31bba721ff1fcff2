"""Webhooks: an endpoint's health, a delivery's attempts, an event and where it went."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from config.console.pages import action, needs, page
from kernel import clock
from kernel.admin.place import place_of
from kernel.errors import NotFound
from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery
from webhooks.queries import statistics
from webhooks.services import replaying, subscribing, testing

RECENT = 25


def _found(row: Any) -> Any:
    if row is None:
        raise NotFound
    return row


@needs("webhook.read")
def endpoint(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """An endpoint, whether it works, and what it got lately."""
    row = _found(Webhook.objects.filter(id=webhook_id).first())
    deliveries = list(
        WebhookDelivery.objects.filter(webhook=row)
        .select_related("system_event")
        .order_by("-created_at", "-id")[:RECENT]
    )
    open_ = WebhookDelivery.objects.filter(webhook=row, status="pending")
    waiting = open_.aggregate(all=Count("id"), retried=Count("id", filter=Q(attempts__gt=0)))
    return page(
        request,
        "webhook",
        str(row),
        webhook=row,
        deliveries=deliveries,
        waiting=waiting,
        delivered=sum(1 for delivery in deliveries if delivery.status == "delivered"),
        day=_last_day(row),
        may_manage=place_of(request).allows("webhook.manage"),
    )


def _last_day(row: Webhook) -> dict[str, Any]:
    """The figures of the last 24 hours, and the bars of their chart in per cent of the highest."""
    until = clock.now()
    found = statistics.of(
        workspace_id=row.workspace_id, webhook_id=row.id, since=until - timedelta(days=1), until=until
    )
    by_hour = {datetime.fromisoformat(step["at"]): step for step in found["series"]}
    top = max((step["delivered"] + step["failed"] + step["pending"] for step in by_hour.values()), default=0)
    first = (until - timedelta(hours=23)).replace(minute=0, second=0, microsecond=0)
    hours = []
    for number in range(24):
        at = first + timedelta(hours=number)
        step = by_hour.get(at, {"delivered": 0, "failed": 0, "pending": 0})
        heights = {
            f"{name}_height": 100 * step[name] / top if top else 0 for name in ("delivered", "failed", "pending")
        }
        hours.append({**step, **heights, "at": at})
    return found | {"hours": hours, "top": top}


@needs("webhook.read")
def delivery(request: HttpRequest, delivery_id: UUID) -> HttpResponse:
    """One delivery: what was sent, and each answer."""
    rows = WebhookDelivery.objects.select_related("webhook", "system_event")
    row = _found(rows.filter(id=delivery_id).first())
    return page(
        request,
        "delivery_out",
        f"{row.system_event.slug}",
        delivery=row,
        attempts=list(WebhookAttempt.objects.filter(delivery=row).order_by("number", "id")),
        replays=list(
            WebhookDelivery.objects.filter(webhook=row.webhook, system_event=row.system_event)
            .exclude(id=row.id)
            .order_by("replay_no")[:20]
        ),
        may_manage=place_of(request).allows("webhook.manage"),
    )


@needs("event.read")
def event(request: HttpRequest, event_id: UUID) -> HttpResponse:
    """A public fact, its exact body, and its deliveries."""
    row = _found(SystemEvent.objects.filter(id=event_id).first())
    rows = WebhookDelivery.objects.filter(system_event=row).select_related("webhook").order_by("created_at", "id")
    return page(request, "event", row.slug, event=row, deliveries=list(rows[:100]))


def _webhook(webhook_id: UUID) -> Webhook:
    row: Webhook = _found(Webhook.objects.only("id", "workspace_id", "state").filter(id=webhook_id).first())
    return row


@action("webhook.manage")
def test(request: HttpRequest, webhook_id: UUID) -> str:
    """Send a sample event to this endpoint only."""
    row = _webhook(webhook_id)
    testing.send_test(workspace_id=row.workspace_id, webhook_id=row.id)
    return "A test event is on its way to this endpoint. Its delivery appears below."


@action("webhook.manage")
def switch(request: HttpRequest, webhook_id: UUID) -> str:
    """On or off."""
    row = _webhook(webhook_id)
    if request.POST.get("to") == "on":
        _, count = subscribing.enable(workspace_id=row.workspace_id, webhook_id=row.id)
        return f"The endpoint is enabled; {count} missed event(s) are delivered now."
    subscribing.disable(workspace_id=row.workspace_id, webhook_id=row.id)
    return "The endpoint is disabled. What it misses comes when you enable it again."


@action("webhook.manage")
def replay(request: HttpRequest, delivery_id: UUID) -> str:
    """Send the same event to the same endpoint again."""
    row = _found(WebhookDelivery.objects.only("id", "workspace_id", "webhook_id").filter(id=delivery_id).first())
    replaying.replay(workspace_id=row.workspace_id, webhook_id=row.webhook_id, delivery_id=row.id)
    return "The event is delivered again; see the newest delivery."


@needs("webhook.manage")
def edit(request: HttpRequest, webhook_id: UUID) -> HttpResponse:
    """The form; its own address is the endpoint's page."""
    return admin.site.get_model_admin(Webhook).change_view(request, str(webhook_id))

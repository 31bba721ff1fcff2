"""Deliveries: one event on its way to one endpoint."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Views
from webhooks.models import WebhookDelivery
from webhooks.services import replaying


class DeliveryViews(Views):
    """By how it stands."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "all": ("All", Q()),
        "failed": ("Failed", Q(status="failed")),
        "retrying": ("Trying again", Q(status="pending", attempts__gt=0)),
        "waiting": ("Waiting", Q(status="pending")),
        "delivered": ("Delivered", Q(status="delivered")),
    }


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """What was sent where, and how it ended."""

    view_needs = "webhook.read"
    act_needs = "webhook.manage"
    list_display = (
        columns.two_lines("system_event__slug", "webhook", "event, endpoint"),
        columns.state("status"),
        columns.text("last_status_code", "answer"),
        columns.text("attempts"),
        columns.text("last_error", "last error", limit=60),
        columns.when("created_at", "queued"),
        columns.when("delivered_at", "delivered"),
    )
    list_filter = (DeliveryViews, "webhook")
    search_fields = ("system_event__slug__startswith", "last_error")
    search_help_text = "Event name or error"
    ordering = ("-created_at", "-id")
    list_select_related = ("webhook", "system_event")
    actions: ClassVar[Any] = ["replay"]
    empty_icon = "local_shipping"
    empty_title = "No deliveries here"
    empty_text = "Each event that a webhook subscribes to becomes a delivery, tried until the endpoint answers 2xx."

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookDelivery]:
        return super().get_queryset(request).defer("system_event__body")

    @deed("Replay", icon="replay")
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        """Each by itself: one whose endpoint is disabled does not hold back the others."""
        done = 0
        for row in queryset:
            answer = self.serve(
                request,
                lambda r=row: replaying.replay(workspace_id=r.workspace_id, webhook_id=r.webhook_id, delivery_id=r.id),
            )
            done += answer is not None
        if done:
            messages.success(request, f"{done} deliver{'y is' if done == 1 else 'ies are'} sent again.")

"""Callbacks of providers, as they came."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.filters import Views
from webhooks.models import ProviderEvent


class CallbackViews(Views):
    """By what became of them."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "all": ("All", Q()),
        "applied": ("Applied", Q(status="applied")),
        "waiting": ("Waiting", Q(status="received")),
        "unmatched": ("About no message of ours", Q(status="unmatched")),
        "ignored": ("Nothing follows", Q(status="ignored")),
    }


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    """What mail providers told us, each fact once. What is about no message of a workspace is the estate's."""

    view_needs = "event.read"
    list_display = (
        columns.two_lines("kind", "reason", "callback"),
        columns.state("status"),
        columns.text("provider", "provider"),
        columns.text("subject_ref", "about", limit=60, mono=True),
        "deliveries",
        columns.when("received_at", "received"),
    )
    list_filter = (CallbackViews, "provider")
    search_fields = ("subject_ref__exact", "provider_event_id__exact")
    search_help_text = "The provider's id of the message, or of the callback"
    ordering = ("-received_at", "-id")
    exclude: Any = ("content_key",)
    empty_icon = "call_received"
    empty_title = "No callbacks yet"
    empty_text = (
        "Deliveries, bounces and complaints that Amazon SES reports appear here. manage.py aws_setup turns them on."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProviderEvent]:
        return super().get_queryset(request).defer("content_key")

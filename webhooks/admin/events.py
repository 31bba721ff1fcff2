"""System events: public facts, immutable."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from webhooks.models import SystemEvent


@admin.register(SystemEvent)
class SystemEventAdmin(ReadOnlyAdmin):
    """What integrators can know."""

    view_needs = "event.read"
    list_display = (
        columns.text("slug", "event", mono=True),
        columns.text("aggregate_key", "about", limit=60, mono=True),
        columns.when("occurred_at", "happened"),
    )
    search_fields = ("slug__startswith", "aggregate_key__startswith")
    search_help_text = "Event name, or what it is about"
    ordering = ("-created_at", "-id")
    empty_icon = "bolt"
    empty_title = "No events yet"
    empty_text = "Facts such as email.received appear here as they happen. A webhook carries them to your systems."

    def get_queryset(self, request: HttpRequest) -> QuerySet[SystemEvent]:
        return super().get_queryset(request).defer("body")

"""The outbox and the heartbeats."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from kernel import outbox
from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.models import OutboxEvent


class Standing(admin.SimpleListFilter):
    """Where an event stands."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("parked", "Parked"), ("waiting", "Waiting"), ("published", "Delivered")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted: dict[str | None, dict[str, bool]] = {
            "parked": {"parked_at__isnull": False, "published_at__isnull": True},
            "waiting": {"parked_at__isnull": True, "published_at__isnull": True},
            "published": {"published_at__isnull": False},
        }
        return queryset.filter(**wanted.get(self.value(), {}))


@admin.register(OutboxEvent)
class OutboxEventAdmin(ReadOnlyAdmin):
    """Facts on their way. Parked ones were given up and wait for a person."""

    view_needs = "workspace.manage"
    act_needs = "workspace.manage"
    list_display = (
        columns.text("slug", "event", mono=True),
        "standing",
        columns.text("aggregate_key", "about", limit=46, mono=True),
        "attempts",
        columns.text("last_error", "last error", limit=70),
        columns.when("created_at", "recorded"),
    )
    list_filter = (Standing, "slug")
    search_fields = ("slug__startswith", "aggregate_key__startswith")
    search_help_text = "Event name or thing it is about"
    ordering = ("-id",)
    actions: ClassVar[Any] = ["redeliver"]
    empty_icon = "outbox"
    empty_title = "No events"
    empty_text = (
        "Each change records a fact here in its own transaction. Parked facts would show up for you to deliver again."
    )

    @admin.display(description="standing")
    def standing(self, row: OutboxEvent) -> Any:
        from kernel.admin import marks

        if row.published_at:
            return marks.chip("delivered")
        return marks.chip("parked", tone="bad") if row.parked_at else marks.chip("pending", "waiting")

    @deed("Deliver again", icon="replay")
    def redeliver(self, request: HttpRequest, queryset: QuerySet[OutboxEvent]) -> None:
        count = outbox.redeliver(ids=list(queryset.values_list("id", flat=True)))
        messages.success(request, f"{count} parked event(s) will be delivered again.")

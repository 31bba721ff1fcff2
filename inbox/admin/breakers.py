"""Automatic answers that were stopped, for people to look at."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from inbox.models import CircuitBreaker
from inbox.services import breaking
from kernel import clock
from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Views


class BreakerViews(Views):
    """What is stopped now first. One answer a day for each conversation is the rule and needs nobody."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "open": ("Stopped now", Q(closed_at=None, open_until__gt=Now()) & ~Q(scope="thread")),
        "over": ("Over", ~Q(closed_at=None) | Q(open_until__lte=Now())),
        "all": ("All", Q()),
    }


@admin.register(CircuitBreaker)
class CircuitBreakerAdmin(ReadOnlyAdmin):
    """Senders, inboxes and workspaces that get no automatic answers for a while, since a loop is suspected."""

    view_needs = "inbox.read"
    act_needs = "inbox.manage"
    list_display = (
        columns.two_lines("key", "inbox", "whom or what"),
        columns.state("scope"),
        "held",
        "is_open",
        columns.when("opened_at", "since"),
        columns.when("open_until", "until"),
        columns.text("closed_by", "allowed by"),
    )
    list_filter = (BreakerViews, "scope")
    search_fields = ("key__icontains",)
    search_help_text = "Address"
    ordering = ("-opened_at", "-id")
    list_select_related = ("inbox",)
    actions: ClassVar[Any] = ["close"]
    empty_icon = "sync_disabled"
    empty_title = "Nothing is stopped"
    empty_text = "When a machine seems to answer your automatic answers, they stop for it, and you see it here."

    @admin.display(description="stopped", boolean=True)
    def is_open(self, row: CircuitBreaker) -> bool:
        return row.closed_at is None and row.open_until > clock.now()

    @deed("Allow automatic answers again", icon="play_arrow")
    def close(self, request: HttpRequest, queryset: QuerySet[CircuitBreaker]) -> None:
        """Each by itself: one that is refused does not hold back the others."""
        rows = list(queryset.values_list("id", "workspace_id"))
        for row_id, workspace_id in rows:
            self.serve(
                request,
                lambda r=row_id, w=workspace_id: breaking.close(workspace_id=w, breaker_id=r),
                done="" if len(rows) > 1 else "Automatic answers are given again.",
            )

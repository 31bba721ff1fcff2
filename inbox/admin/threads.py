"""The list of conversations. A conversation's own page crosses apps and lives in config.console."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest

from inbox.models import Entry, Inbox, Thread, ThreadParticipant
from inbox.types import Direction
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.filters import Views


class ThreadViews(Views):
    """The saved views."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "open": ("Open", Q(status="open")),
        "unanswered": ("Unanswered", Q(status="open", first_unanswered_inbound_at__isnull=False)),
        "mine": ("Mine", Q()),
        "snoozed": ("Snoozed", Q(status="snoozed")),
        "closed": ("Closed", Q(status="closed")),
        "spam": ("Spam", Q(status="spam")),
        "all": ("All", Q()),
    }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen() == "mine":
            return queryset.filter(assignee__user_id=request.user.pk)
        return super().queryset(request, queryset)


class InboxFilter(admin.SimpleListFilter):
    """By inbox; the choices are those of the workspace."""

    title = "inbox"
    parameter_name = "inbox"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        rows = Inbox.objects.order_by("address").values_list("id", "address")[:100]
        return [(str(id_), address) for id_, address in rows]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = {key for key, _ in self.lookup_choices}
        return queryset.filter(inbox_id=self.value()) if self.value() in known else queryset


@admin.register(Thread)
class ThreadAdmin(ReadOnlyAdmin):
    """Conversations, newest first, without a count: as fast with a million rows as with ten."""

    view_needs = "thread.read"
    change_list_template = "console/threads.html"
    list_display = ("subject", "last_entry_at")
    list_filter = (ThreadViews, InboxFilter)
    search_fields = ("subject",)
    search_help_text = "Subject, text or address"
    ordering = ("-last_entry_seq",)
    list_select_related = ("inbox", "assignee__user")
    empty_icon = "forum"
    empty_title = "No conversations here"
    empty_text = "Mail to one of your inboxes opens a conversation. Send one to an inbox's address, or look at another view above."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Thread]:
        latest = Entry.unfenced.filter(thread=OuterRef("pk"), direction=Direction.INBOUND).order_by("-seq")
        rows = super().get_queryset(request).filter(merged_into=None)
        annotated: QuerySet[Thread] = rows.annotate(
            mail_state=Subquery(latest.values("email__state")[:1]),
            mail_reason=Subquery(latest.values("email__state_reason")[:1]),
            last_author=Subquery(latest.values("author_label")[:1]),
        ).prefetch_related("contact__profiles")
        return annotated

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Words must all occur, each in the subject, the preview or an address of who took part."""
        for word in search_term.split()[:8]:
            took_part = ThreadParticipant.objects.filter(thread=OuterRef("pk"), address__icontains=word)
            queryset = queryset.filter(Q(subject__icontains=word) | Q(preview__icontains=word) | Exists(took_part))
        return queryset, False

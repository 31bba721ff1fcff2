"""The list of conversations: views with their counts, what is unread, and a page at a time without any counting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest

from inbox.models import Inbox, Thread, ThreadReadState
from kernel.admin.place import place_of
from tenancy.queries import members
from tickets.models import SavedView, Tag
from tickets.normalise import BadFilter, view_filter
from tickets.queries import labels, views
from tickets.types import ViewOrder

PAGE = 50
OWN: Mapping[str, tuple[str, dict[str, Any]]] = {
    "open": ("Open", {"status": "open"}),
    "unanswered": ("Unanswered", {"status": "open", "unanswered": True}),
    "mine": ("Mine", {"status": "open", "assignee": "me"}),
    "unassigned": ("Unassigned", {"status": "open", "assignee": "nobody"}),
    "snoozed": ("Snoozed", {"status": "snoozed"}),
    "closed": ("Closed", {"status": "closed"}),
    "spam": ("Spam", {"status": "spam"}),
    "all": ("All", {}),
}
# What is shown beside the tabs is worth a look; how much lies in the archive is not.
_UNCOUNTED = ("closed", "spam", "all")


@dataclass(frozen=True)
class Tab:
    """A view as a tab: its key in the address, its name, and how many conversations it has."""

    key: str
    title: str
    filter: Mapping[str, Any]
    sort: str
    count: int | None
    row: SavedView | None = None


@dataclass(frozen=True)
class Row:
    """A conversation in the list."""

    thread: Thread
    tags: list[Tag]
    is_unread: bool


def me(request: HttpRequest) -> UUID | None:
    """The membership of the person in the workspace that they look at."""
    place = place_of(request)
    return members.own(request.user.pk) if place.workspace_id else None


def tabs(request: HttpRequest, member: UUID | None) -> list[Tab]:
    """Ours first, then those that people saved; all counts in one query."""
    place = place_of(request)
    own = [(key, title, chosen, ViewOrder.NEWEST.value, None) for key, (title, chosen) in OWN.items()]
    rows = views.visible(owner_id=member) if place.workspace_id else SavedView.objects.none()
    saved = [(str(row.id), row.name, row.filter, row.sort, row) for row in rows]
    found = own + saved
    counted = [entry for entry in found if entry[0] not in _UNCOUNTED]
    counts = dict(
        zip(
            (entry[0] for entry in counted),
            views.counts([entry[2] for entry in counted], workspace_id=place.workspace_id, me=member),
            strict=True,
        )
    )
    return [Tab(key, title, chosen, sort, counts.get(key), row) for key, title, chosen, sort, row in found]


def narrowed(request: HttpRequest, tab: Tab) -> dict[str, Any]:
    """The tab's filter with what the person chose beside it. What is no filter is left out."""
    wanted = dict(tab.filter)
    for word in ("inbox_id", "tag_id", "assignee"):
        value = request.GET.get(word) or request.GET.get(word.removesuffix("_id"))
        if value:
            try:
                wanted |= view_filter({word: value})
            except BadFilter:
                continue
    return wanted


def page(request: HttpRequest, tab: Tab, wanted: Mapping[str, Any], member: UUID | None) -> dict[str, Any]:
    """One page of a view, newest first by the place where the last one ended; others by number."""
    model_admin = admin.site.get_model_admin(Thread)
    term = request.GET.get("q", "").strip()[:200]
    rows, _ = model_admin.get_search_results(request, model_admin.get_queryset(request), term)
    rows = views.narrow(rows, wanted, me=member, sort=tab.sort).select_related("inbox", "assignee__user")
    if member:
        mine = ThreadReadState.unfenced.filter(thread=OuterRef("pk"), membership_id=member)
        rows = rows.annotate(last_read=Subquery(mine.values("last_read_seq")[:1]))
    start = 0
    if tab.sort == ViewOrder.NEWEST:
        before = _number(request.GET.get("before", ""))
        rows = rows.filter(last_entry_seq__lt=before) if before else rows
    else:
        start = _number(request.GET.get("from", ""))
    found = list(rows[start : start + PAGE + 1])
    shown, more = found[:PAGE], len(found) > PAGE
    bears = labels.of_threads(thread.id for thread in shown)
    return {
        "rows": [Row(thread, bears.get(thread.id, []), _is_unread(thread, member)) for thread in shown],
        "more": _next(tab, shown, start) if more else "",
        "term": term,
        "is_first": not start and not request.GET.get("before"),
    }


def _next(tab: Tab, shown: list[Thread], start: int) -> str:
    return f"before={shown[-1].last_entry_seq}" if tab.sort == ViewOrder.NEWEST else f"from={start + PAGE}"


def _is_unread(thread: Thread, member: UUID | None) -> bool:
    return member is not None and (getattr(thread, "last_read", None) or 0) < thread.last_entry_seq


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


def choices() -> dict[str, Any]:
    """What the list may be narrowed by, and given to."""
    return {
        "inboxes": list(Inbox.objects.order_by("address")[:100]),
        "tags": list(labels.tags()[:200]),
        "members": members.active(),
    }

"""Saved views: which conversations are in one, and how many, without counting them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum

from inbox.queries import desk
from tickets.models import SavedView, ThreadCount
from tickets.normalise import ME, NOBODY
from tickets.types import ViewOrder

# What no row is equal to: a person who is no member has no conversations of their own.
_NOBODY_ELSE = UUID(int=0)


def visible(*, owner_id: UUID | None) -> "QuerySet[SavedView]":
    """Everybody's views, and the member's own."""
    return SavedView.objects.filter(Q(owner=None) | Q(owner_id=owner_id)).order_by("name", "id")


def threads(view_filter: Mapping[str, Any], *, me: UUID | None, sort: str = ViewOrder.NEWEST) -> "QuerySet[Any]":
    """The conversations of the scope in sight that a filter takes."""
    return narrow(desk.threads(), view_filter, me=me, sort=sort)


def narrow(
    rows: "QuerySet[Any]", view_filter: Mapping[str, Any], *, me: UUID | None, sort: str = ViewOrder.NEWEST
) -> "QuerySet[Any]":
    """Those of some conversations that a filter takes, in the order of the view."""
    rows = rows.filter(_plain(view_filter, me))
    if "unanswered" in view_filter:
        rows = rows.filter(first_unanswered_inbound_at__isnull=not view_filter["unanswered"])
    if "tag_id" in view_filter:
        rows = rows.filter(tag_links__tag_id=view_filter["tag_id"])
    if sort == ViewOrder.WAITING:
        return rows.order_by(F("first_unanswered_inbound_at").asc(nulls_last=True), "-last_entry_seq")
    return rows.order_by("-last_entry_seq")


def counts(filters: Sequence[Mapping[str, Any]], *, workspace_id: UUID | None, me: UUID | None) -> list[int]:
    """How many conversations each filter takes: one look at the maintained sums, however many views there are."""
    if not filters:
        return []
    rows = ThreadCount.objects.all()
    if workspace_id is not None:
        rows = rows.filter(workspace_id=workspace_id)
    sums = {f"n{at}": Sum("threads", filter=_counted(one, me)) for at, one in enumerate(filters)}
    found = rows.aggregate(**sums)
    return [found[name] or 0 for name in sums]


def _counted(view_filter: Mapping[str, Any], me: UUID | None) -> Q:
    wanted = _plain(view_filter, me)
    if "unanswered" in view_filter:
        wanted &= Q(unanswered=view_filter["unanswered"])
    return wanted & (Q(tag_id=view_filter["tag_id"]) if "tag_id" in view_filter else Q(tag_id=None))


def _plain(view_filter: Mapping[str, Any], me: UUID | None) -> Q:
    """What conversations and their counters have under the same name."""
    wanted = Q()
    for word in ("status", "inbox_id"):
        if word in view_filter:
            wanted &= Q(**{word: view_filter[word]})
    assignee = view_filter.get("assignee")
    if assignee == NOBODY:
        wanted &= Q(assignee_id=None)
    elif assignee is not None:
        wanted &= Q(assignee_id=(me or _NOBODY_ELSE) if assignee == ME else assignee)
    return wanted

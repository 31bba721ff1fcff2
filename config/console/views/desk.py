"""The list of conversations, and what is done with several of them at once."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils import timezone

from config.console import desk
from config.console.pages import action, back, needs, page
from inbox.models import Thread
from inbox.services import tending
from inbox.types import ThreadStatus
from kernel import clock
from kernel.admin.place import place_of
from kernel.errors import DomainError, Invalid, NotFound
from tickets.services import tagging, viewing

MOST = 100
_MORNING = time(8)
# In the order of the menu: the key, and what a person reads.
SNOOZES = {
    "hours": "For 3 hours",
    "tomorrow": "Until tomorrow morning",
    "monday": "Until next Monday",
    "week": "For a week",
}


@needs("thread.read")
def threads(request: HttpRequest) -> HttpResponseBase:
    """The page; a POST is a deed on the chosen conversations."""
    if request.method == "POST":
        return _in_bulk(request)
    member = desk.me(request)
    tabs = desk.tabs(request, member)
    tab = next((one for one in tabs if one.key == request.GET.get("view")), tabs[0])
    wanted = desk.narrowed(request, tab)
    kept = {word: request.GET[word] for word in ("view", "q", "inbox", "tag", "assignee") if request.GET.get(word)}
    place = place_of(request)
    return page(
        request,
        "threads",
        "Conversations",
        tabs=tabs,
        tab=tab,
        wanted=wanted,
        kept=urlencode(kept),
        is_narrowed=wanted != dict(tab.filter),
        snoozes=SNOOZES,
        may_manage=place.allows("thread.manage") and place.workspace_id is not None,
        may_share=place.allows("view.manage"),
        is_member=member is not None,
        **desk.page(request, tab, wanted, member),
        **desk.choices(),
    )


@needs("thread.manage")
def _in_bulk(request: HttpRequest) -> HttpResponse:
    """Each by itself: one that is refused does not hold back the others."""
    chosen = [_uuid(text) for text in request.POST.getlist("thread")[:MOST]]
    rows = Thread.objects.filter(id__in=chosen).values_list("id", "workspace_id")
    try:
        deed = _deed(request)
        done = sum(_done(request, deed, thread_id, workspace_id) for thread_id, workspace_id in rows)
    except DomainError as error:
        messages.error(request, error.detail)
        return HttpResponseRedirect(back(request))
    if done:
        messages.success(request, f"Done for {done} conversation{'s' if done != 1 else ''}.")
    elif not chosen:
        messages.error(request, "Choose conversations first.")
    return HttpResponseRedirect(back(request))


def _done(request: HttpRequest, deed: Callable[..., Any], thread_id: UUID, workspace_id: UUID) -> int:
    try:
        deed(workspace_id=workspace_id, thread_id=thread_id)
    except DomainError as error:
        messages.error(request, error.detail)
        return 0
    return 1


def _deed(request: HttpRequest) -> Callable[..., Any]:
    """What a form asks for, as a call that only lacks its conversation."""
    wanted, _, value = request.POST.get("deed", "").partition(":")
    if wanted in ("open", "closed", "spam"):
        return lambda **where: tending.set_status(**where, status=ThreadStatus(wanted))
    if wanted == "assign":
        member = desk.me(request) if value == "me" else (_uuid(value) if value else None)
        return lambda **where: tending.assign(**where, membership_id=member)
    if wanted == "snooze":
        until = _until(value)
        return lambda **where: tending.snooze(**where, until=until)
    if wanted in ("tag", "untag"):
        label = _uuid(value)
        work = tagging.put if wanted == "tag" else tagging.take
        return lambda **where: work(**where, tag_id=label)
    raise Invalid("Choose what to do.")


def _until(key: str) -> datetime:
    """In the person's own time zone."""
    now = timezone.localtime(clock.now())
    days = {"tomorrow": 1, "monday": 7 - now.weekday(), "week": 7}
    if key == "hours":
        return now + timedelta(hours=3)
    if key in days:
        return datetime.combine(now.date() + timedelta(days=days[key]), _MORNING, tzinfo=now.tzinfo)
    raise Invalid("Choose until when.")


@action("thread.manage")
def tend(request: HttpRequest, thread_id: UUID) -> str:
    """Assign, label, close, snooze: one conversation, from its own page."""
    row = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if row is None:
        raise NotFound
    _deed(request)(workspace_id=row.workspace_id, thread_id=row.id)
    return "Done."


@action("thread.read")
def save_view(request: HttpRequest) -> str:
    """Keep what is on the screen under a name; for everybody only with the permission for that."""
    place, member = place_of(request), desk.me(request)
    is_shared = request.POST.get("shared") == "1"
    if is_shared:
        place.require("view.manage")
    if place.workspace_id is None or (member is None and not is_shared):
        raise Invalid("Only a member of the workspace has views of their own.")
    words = ("status", "inbox_id", "assignee", "tag_id")
    chosen: dict[str, Any] = {word: request.POST[word] for word in words if request.POST.get(word)}
    if request.POST.get("unanswered"):
        chosen["unanswered"] = request.POST["unanswered"] == "True"
    viewing.create(
        workspace_id=place.workspace_id,
        name=request.POST.get("name", ""),
        filter=chosen,
        sort=request.POST.get("sort", "newest"),
        owner_id=None if is_shared else member,
    )
    return "The view is saved; it is a tab from now on."


@action("thread.read")
def delete_view(request: HttpRequest, view_id: UUID) -> str:
    """Away with a view: one's own, or everybody's with the permission for that."""
    place = place_of(request)
    is_shared = request.POST.get("shared") == "1"
    if is_shared:
        place.require("view.manage")
    if place.workspace_id is None:
        raise NotFound
    owner = None if is_shared else desk.me(request)
    if owner is None and not is_shared:
        raise NotFound
    viewing.delete(workspace_id=place.workspace_id, view_id=view_id, owner_id=owner)
    return "The view is gone; its conversations are not."


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid("The form is incomplete. Reload the page and try again.") from error

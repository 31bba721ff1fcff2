"""Every console request runs as a named person inside their workspace: managers and row-level security both fence it."""

import zoneinfo
from collections.abc import Callable
from functools import cache

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone

from config.console import pages, places
from kernel import context
from kernel.admin.place import Place
from kernel.context import Actor, acting_as
from kernel.redaction import redact
from kernel.transactions import unit_of_work

# What a signed-in person without a workspace may still reach: themselves, the way in and the way out.
OPEN = ("login/", "logout/", "jsi18n/", "you/", "join/", "password/new/", "password/forgotten/", "sso/", "inactive/")


class _Undo(Exception):
    """Carries a failed answer out of the unit of work, so that nothing of the failed request is kept."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


def workspace_fence(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Wrap console requests in one unit of work of the chosen workspace, with the person as the actor."""

    def middleware(request: HttpRequest) -> HttpResponse:
        console = _root()
        if not request.path_info.startswith(console) or not request.user.is_authenticated:
            return get_response(request)
        place = places.find(request)
        if place is not None:
            request.place = place  # type: ignore[attr-defined]
            _note(request, place)
        elif not request.path_info.removeprefix(console).startswith(OPEN):
            return _without_place(get_response, request)
        who = Actor(kind="user", id=str(request.user.pk), label=str(request.user))
        zone = zoneinfo.ZoneInfo(getattr(request.user, "timezone", "UTC"))
        try:
            with (
                timezone.override(zone),
                acting_as(place.actor if place else who),
                unit_of_work(place.scope if place else None),
            ):
                wrong = pages.of_another_place(request) if place is not None and request.method == "POST" else None
                response = wrong or get_response(request)
                if response.status_code >= 500:
                    raise _Undo(response)
                if place is not None:
                    _note_operator(place, request, response)
        except _Undo as undone:
            return undone.response
        return response

    return middleware


@cache
def _root() -> str:
    return reverse("admin:index")


def _without_place(get_response: Callable[[HttpRequest], HttpResponse], request: HttpRequest) -> HttpResponse:
    """Somebody who has no workspace here, or an operator who has to choose one first, or all of them."""
    if places.may_enter(request.user) and getattr(request.user, "is_operator", False):
        choosing = reverse("admin:choose_workspace")
        return get_response(request) if request.path_info == choosing else HttpResponseRedirect(choosing)
    return _refuse(request)


def _note_operator(place: Place, request: HttpRequest, response: HttpResponse) -> None:
    """Whatever an operator does is in the trail, with where they said that they are; also what left no other trace."""
    match = request.resolver_match
    if place.acts_as_operator and request.method not in ("GET", "HEAD", "OPTIONS") and response.status_code < 400:
        places.note(place, "operator.act", page=match.url_name if match else "", method=request.method)


def _note(request: HttpRequest, place: Place) -> None:
    """Say what is being tried, for the audit trail: it has every refusal. Operators act in the estate's own."""
    call = context.call.get()
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return
    if call is None:
        return
    kind = (match.url_name or "page").removesuffix("_changelist").removesuffix("_change").removesuffix("_add")
    deed = request.POST.get("action", "") if request.method == "POST" else "open"
    # The trail is read by more people than may use the secret of a link.
    ids = [str(redact(value, name=name)) for name, value in match.kwargs.items()] or request.POST.getlist(
        "_selected_action"
    )
    call.attempt = context.Attempt(
        workspace_id=place.workspace_id or context.ESTATE,
        actor=place.actor,
        action=f"console.{kind}.{deed or 'submit'}"[:80],
        resource_kind=kind[:60],
        resource_id=ids[0][:80] if len(ids) == 1 else "",
    )


def _refuse(request: HttpRequest) -> HttpResponse:
    from django.contrib import admin

    context = admin.site.each_context(request) | {"title": "No workspace"}
    return TemplateResponse(request, "console/refused.html", context, status=403).render()

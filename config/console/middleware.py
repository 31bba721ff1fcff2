"""Every console request runs as a named person inside their workspace: managers and row-level security both fence it."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone

from config.console import places
from kernel import context
from kernel.admin.place import Place
from kernel.context import acting_as
from kernel.transactions import unit_of_work

# What a signed-in person without a workspace may still reach.
OPEN = ("login", "logout", "jsi18n")


class _Undo(Exception):
    """Carries a failed answer out of the unit of work, so that nothing of the failed request is kept."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


def workspace_fence(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Wrap console requests in one unit of work of the chosen workspace, with the person as the actor."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(reverse("admin:index")) or not request.user.is_authenticated:
            return get_response(request)
        place = places.find(request)
        if place is None:
            is_open = request.path_info in {reverse(f"admin:{name}") for name in OPEN}
            return get_response(request) if is_open else _refuse(request)
        request.place = place  # type: ignore[attr-defined]
        _note(request, place)
        zone = zoneinfo.ZoneInfo(getattr(request.user, "timezone", "UTC"))
        try:
            with timezone.override(zone), acting_as(place.actor), unit_of_work(place.scope):
                response = get_response(request)
                if response.status_code >= 500:
                    raise _Undo(response)
        except _Undo as undone:
            return undone.response
        return response

    return middleware


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
    ids = [str(value) for value in match.kwargs.values()] or request.POST.getlist("_selected_action")
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

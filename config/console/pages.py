"""What our own pages share: the frame, the permission at the door, and a service's refusal as a message."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from kernel import context
from kernel.admin.place import place_of
from kernel.errors import DomainError, Forbidden, NotFound

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def page(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    """A page in the console's frame."""
    request.current_app = "admin"
    frame = admin.site.each_context(request) | {"title": title, "is_fullwidth": "1"} | context
    return TemplateResponse(request, f"console/{template}.html", frame).render()


def needs(permission: str) -> Callable[[View[P]], View[P]]:
    """Only for those whose roles grant it; others get a page that names what is missing."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            try:
                place_of(request).require(permission)
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.detail) from error
            except DomainError as error:
                heading = {403: "", 409: "Not now", 503: "Not now"}.get(error.status, error.title)
                return _turned_away(request, error.title, detail=error.detail, heading=heading, status=error.status)

        guarded.needs = permission  # type: ignore[attr-defined] # for the test that walks every page
        return cast("View[P]", guarded)

    return decorate


def action(permission: str) -> Callable[[Callable[Concatenate[HttpRequest, P], str]], View[P]]:
    """A POST that calls a service and goes back. The function returns what was done; a refusal is shown as an error."""

    def decorate(work: Callable[Concatenate[HttpRequest, P], str]) -> View[P]:
        @wraps(work)
        def view(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            try:
                messages.success(request, work(request, *args, **kwargs))
            except NotFound as error:
                raise Http404(error.detail) from error
            except DomainError as error:
                context.refused(error.code, denied=isinstance(error, Forbidden))
                messages.error(request, error.detail)
            return HttpResponseRedirect(back(request))

        return needs(permission)(cast("View[P]", require_POST(view)))

    return decorate


def of_another_place(request: HttpRequest) -> HttpResponse | None:
    """The answer to a form of a page that was made in another workspace; None where the form fits.

    In another tab one may have gone elsewhere since, and what a form does not name (a stop, a setting, a new webhook)
    would be done there.
    """
    place, of = place_of(request), request.POST.get("of_workspace")
    is_choosing = request.path_info == reverse("admin:choose_workspace")
    if of is None or of == str(place.workspace_id or "") or is_choosing:
        return None
    detail = (
        f"You work in {place.name} now, and this page was of another workspace. Nothing was done: go back there first."
    )
    return _turned_away(request, "Not now", detail=detail, heading="You are elsewhere now", status=409)


def _turned_away(request: HttpRequest, title: str, *, detail: str, heading: str, status: int) -> HttpResponse:
    """A page that has not the form which was sent: a reply or a note that somebody wrote in it is there to be copied."""
    words = request.POST.get("note") or request.POST.get("text") or ""
    response = page(request, "forbidden", title, detail=detail, heading=heading, words=words)
    response.status_code = status
    return response


def back(request: HttpRequest, otherwise: str = "") -> str:
    """Where the person came from, if that is a page of ours."""
    for target in (request.POST.get("next", ""), request.headers.get("Referer", "")):
        if target and url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
            return target
    return otherwise or reverse("admin:index")

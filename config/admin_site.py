"""The operator console."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, reverse
from unfold.sites import UnfoldAdminSite


class Console(UnfoldAdminSite):  # type: ignore[misc]
    """Unfold's site with our own home, pages that cross apps, and entry for members of a workspace only."""

    site_title = "Autonomous Inbox"
    site_header = "Autonomous Inbox"
    index_title = "Home"

    def has_permission(self, request: HttpRequest) -> bool:
        """The middleware has found a workspace for the person; without one nothing opens but the way out, and the choice."""
        place = getattr(request, "place", None)
        ways = {reverse(f"{self.name}:logout"), reverse(f"{self.name}:choose_workspace")}
        return place is not None or (request.user.is_authenticated and request.path in ways)

    def extra_urls(self) -> list[URLPattern]:
        from config.console.urls import patterns

        return patterns(self)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        from config.console import emergency

        context: dict[str, Any] = super().each_context(request)
        entries = [entry for group in context["sidebar_navigation"] for entry in group["items"]]
        here = next((entry for entry in entries if entry["active"]), None)
        place = getattr(request, "place", None)
        return context | {"place": place, "here": here, "brake": emergency.brake(place)}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        from config.console.views.home import home

        return home(request)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Unfold keeps found rows in a cache by person, whatever their workspace; ours asks anew."""
        from config.console.views.search import search

        return search(request)

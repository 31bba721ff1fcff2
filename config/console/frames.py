"""What the pages of django-allauth need to look like the console's."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.cache import add_never_cache_headers


class Framed:
    """A class-based view in the console's frame."""

    request: HttpRequest
    title = ""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What the frame shows, then the page's own."""
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        return admin.site.each_context(self.request) | {"title": self.title, "is_fullwidth": "1"} | context


def door(request: HttpRequest, template: str, title: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """A page on a card, for whoever is outside. Its address may hold a secret: nobody is told where they came from."""
    frame = admin.site.each_context(request) | {"title": title} | context
    response = TemplateResponse(request, f"console/doors/{template}.html", frame, status=status).render()
    add_never_cache_headers(response)
    response["Referrer-Policy"] = "no-referrer"
    return response

"""Images in mail. No session is asked for: the frame that shows them has none, and each link says for whom it was made."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from inbox.services import images
from kernel.errors import DomainError


@require_safe
def picture(request: HttpRequest, token: str) -> HttpResponse:
    """The image that a link stands for; an empty answer where there is none, since a frame shows no sentences."""
    try:
        found = images.picture(token)
    except DomainError as error:
        return _harmless(HttpResponse(status=error.status, content_type="text/plain"), "no-store")
    return _harmless(HttpResponse(found.content, content_type=found.content_type), "private, max-age=3600")


def _harmless(response: HttpResponse, cache: str) -> HttpResponse:
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["X-Content-Type-Options"] = "nosniff"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = cache
    return response

"""Errors that no view answers: an address that is not there, a fault of ours. Problems below /api, pages elsewhere."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.views import defaults

from kernel.api import problems

Handler = Callable[..., HttpResponse]


# Status, code, title and advice of each.
_BAD_REQUEST = (400, "bad_request", "The request cannot be read", "Check host, address and headers, and send it again.")
_NOT_FOUND = (404, "no_such_address", "Not found", "There is nothing at this address. /api/docs lists those that are.")
_SERVER_ERROR = (
    500,
    "server_error",
    "A fault of ours",
    "The request may or may not have been done. Send it again with the same Idempotency-Key; if it fails again, report"
    " the request id.",
)
ANSWERS = (_BAD_REQUEST, _NOT_FOUND, _SERVER_ERROR)


def _below_api(status: int, code: str, title: str, detail: str) -> Callable[[Handler], Handler]:
    """A problem for callers of the API; the wrapped page for everybody else."""

    def wrap(page: Handler) -> Handler:
        @wraps(page)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.path.startswith("/api/"):
                return page(request, *args, **kwargs)
            body = problems.document(status_code=status, code=code, title=title, detail=detail)
            return HttpResponse(orjson.dumps(body), status=status, content_type=problems.CONTENT_TYPE)

        return answer

    return wrap


@_below_api(*_BAD_REQUEST)
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400."""
    return defaults.bad_request(request, exception)


@_below_api(*_NOT_FOUND)
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return defaults.page_not_found(request, exception)


@_below_api(*_SERVER_ERROR)
def server_error(request: HttpRequest) -> HttpResponse:
    """handler500."""
    return defaults.server_error(request)

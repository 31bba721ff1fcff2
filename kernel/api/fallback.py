"""Errors that no view answers: an address that is not there, a fault of ours. Problems below /api, pages elsewhere."""

from dataclasses import dataclass

import orjson
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from kernel import context
from kernel.api import problems


@dataclass(frozen=True)
class Fallback:
    """A status, and what to say with it: to programs, and to people."""

    status: int
    code: str
    title: str
    advice: str
    advice_for_people: str


BAD_REQUEST = Fallback(
    400,
    "bad_request",
    "The request cannot be read",
    "Check host, address and headers, and send it again.",
    "Check the address. If it is right, the operator has to add its host to ALLOWED_HOSTS.",
)
NOT_FOUND = Fallback(
    404,
    "no_such_address",
    "Not found",
    "There is nothing at this address. /api/docs lists those that are.",
    "There is nothing at this address, or nothing that you may see.",
)
SERVER_ERROR = Fallback(
    500,
    "server_error",
    "A fault of ours",
    "The request may or may not have been done. Send it again with the same Idempotency-Key; if it fails again, report"
    " the request id.",
    "Go back and look whether your change was made before you try again. If it fails again, report the number below.",
)
ANSWERS = (BAD_REQUEST, NOT_FOUND, SERVER_ERROR)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400."""
    return _answer(request, BAD_REQUEST)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return _answer(request, NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500."""
    return _answer(request, SERVER_ERROR)


def _answer(request: HttpRequest, said: Fallback) -> HttpResponse:
    """A problem for callers of the API, a page for everybody else. It needs nothing that middleware brings (a session, a
    person, a database): what failed may have failed before them."""
    if request.path.startswith("/api/"):
        body = problems.document(status_code=said.status, code=said.code, title=said.title, detail=said.advice)
        return HttpResponse(orjson.dumps(body), status=said.status, content_type=problems.CONTENT_TYPE)
    page = render_to_string("error.html", {"said": said, "request_id": context.request_id.get()})
    return HttpResponse(page, status=said.status)

"""What every request gets: an id that the caller may choose, a clean context, and a policy for its answer."""

import re
import uuid
from collections.abc import Callable

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from kernel import context

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_DATA = ("application/json", "application/problem+json")
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


def request_context(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Accept a well-formed X-Request-Id, else make one; echo it, and carry it into logs, audit and events."""

    def middleware(request: HttpRequest) -> HttpResponse:
        offered = request.headers.get("X-Request-Id", "")
        chosen = offered if _ID.fullmatch(offered) else uuid.uuid4().hex
        token = context.call.set(context.Call())
        try:
            with context.acting_as(context.SYSTEM, request=chosen):
                response = get_response(request)
        finally:
            context.call.reset(token)
        response["X-Request-Id"] = chosen
        return response

    return middleware


class ContentPolicy(CSPMiddleware):
    """The policy of pages; of what is no page, nothing is ever loaded or framed, and there is nothing to put together."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.headers.get("Content-Type", "").startswith(_DATA):
            response.headers.setdefault("Content-Security-Policy", _NOTHING)
            return response
        return super().process_response(request, response)

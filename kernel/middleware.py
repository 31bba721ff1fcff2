"""What every request gets: an id that the caller may choose, and a clean context."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from kernel import context

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


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

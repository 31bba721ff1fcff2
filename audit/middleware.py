"""The request log: what was asked of the API by whom, and how it was answered."""

import time
from collections.abc import Callable
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from rest_framework.schemas.generators import EndpointEnumerator

from audit import worker
from audit.models import ApiRequest
from kernel import clock, context


def request_log(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Write down each answer to a caller that is known; without one there is no workspace whose log it would be."""

    def middleware(request: HttpRequest) -> HttpResponse:
        came, began = clock.now(), time.monotonic()
        response = get_response(request)
        call, match = context.call.get(), request.resolver_match
        if call is not None and call.workspace_id is not None and match is not None:
            worker.keep(
                ApiRequest(
                    workspace_id=call.workspace_id,
                    created_at=came,
                    request_id=context.request_id.get(),
                    method=(request.method or "")[:10],
                    path=_template(match.route),
                    status=response.status_code,
                    code=call.code if response.status_code >= 400 else "",
                    caller=call.caller[:200],
                    duration_ms=int((time.monotonic() - began) * 1000),
                )
            )
        return response

    return middleware


@lru_cache(maxsize=1_000)
def _template(route: str) -> str:
    """A route as the API's description writes it: `/api/v1/emails/{id}`."""
    path: str = EndpointEnumerator().get_path_from_regex(route)
    return path.replace("{pk}", "{id}")[:200]

"""The request log: what was asked of the API by whom, and how it was answered. And the trail of what was refused."""

import logging
import time
from collections.abc import Callable
from functools import lru_cache

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from rest_framework.schemas.generators import EndpointEnumerator

from audit import services, worker
from audit.models import ApiRequest
from audit.types import Outcome
from kernel import clock, context

logger = logging.getLogger(__name__)

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_DENIED = frozenset({401, 403})
# Not looked at, so neither denied nor failed: the limit of requests bounds what the trail has to take, too.
_TURNED_AWAY = 429


def refusals(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Record each attempt that was denied, and each change that failed. What is done, services record with their work."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        call = context.call.get()
        attempt = call.attempt if call else None
        if call is not None and attempt is not None:
            outcome = _outcome(request.method or "", response.status_code, attempt)
            if outcome is not None:
                _record(attempt, outcome, attempt.refusal or call.code, response.status_code)
        return response

    return middleware


def _outcome(method: str, status: int, attempt: context.Attempt) -> Outcome | None:
    if status in _DENIED or attempt.is_denied:
        return Outcome.DENIED
    if method in _SAFE or status == _TURNED_AWAY:
        return None
    return Outcome.FAILED if status >= 400 or attempt.refusal else None


def _record(attempt: context.Attempt, outcome: Outcome, code: str, status: int) -> None:
    try:
        services.record_refusal(attempt, outcome=outcome, code=code, status=status)
    except DatabaseError:
        # The request was refused; that nobody could write it down must not turn it into something else.
        logger.exception("a refusal could not be recorded", extra={"action": attempt.action})


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

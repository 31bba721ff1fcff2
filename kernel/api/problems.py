"""Errors over HTTP as RFC 9457 problem documents, each with a stable code and a sentence that says what to do."""

import logging
from typing import Any

from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

from kernel import context
from kernel.errors import DomainError, Forbidden, Unauthenticated

logger = logging.getLogger(__name__)

# What the framework's own refusals leave out: what to do.
ADVICE = {
    "method_not_allowed": "Use a method that the Allow header names.",
    "unsupported_media_type": "Send the content with `Content-Type: application/json`.",
    "parse_error": "Correct the body and send the request again.",
}
CONTENT_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="autonomous-inbox"'
TYPE_BASE = "https://autonomous-inbox.dev/problems/"


def document(
    *, status_code: int, code: str, title: str, detail: str, errors: list[dict[str, str]] | None = None, **extra: object
) -> dict[str, object]:
    """The body of a problem. `errors` point into the request body with JSON pointers (RFC 6901), or name a parameter."""
    call = context.call.get()
    if call is not None:
        call.code = code
    body: dict[str, object] = {
        "type": TYPE_BASE + code.replace("_", "-"),
        "title": title,
        "status": status_code,
        "code": code,
        "detail": detail,
        "request_id": context.request_id.get(),
    }
    if errors:
        body["errors"] = errors
    return body | extra


def handle(error: Exception, _context: dict[str, Any]) -> Response | None:
    """Django REST framework's exception handler."""
    if isinstance(error, DomainError):
        return _of_domain(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound("No such resource in this workspace.")
    if not isinstance(error, exceptions.APIException):
        return None
    return _of_framework(error)


def _of_domain(error: DomainError) -> Response:
    extra: dict[str, Any] = dict(error.extra)
    errors = extra.pop("errors", None)
    if error.pointer:
        errors = [{"pointer": error.pointer, "detail": error.detail}]
    elif not errors and "parameter" in extra:
        errors = [{"parameter": str(extra["parameter"]), "detail": error.detail}]
    body = document(
        status_code=error.status, code=error.code, title=error.title, detail=error.detail, errors=errors, **extra
    )
    headers = {}
    if "retry_after" in error.extra:
        headers["Retry-After"] = str(error.extra["retry_after"])
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = CHALLENGE
    elif isinstance(error, Forbidden) and "permission" in error.extra:
        # RFC 6750, 3.1: what the credential would have to be good for.
        headers["WWW-Authenticate"] = f'{CHALLENGE}, error="insufficient_scope", scope="{error.extra["permission"]}"'
    return Response(body, status=error.status, headers=headers, content_type=CONTENT_TYPE)


def _of_framework(error: exceptions.APIException) -> Response:
    errors: list[dict[str, str]] | None = None
    status_code, detail = error.status_code, str(error.detail)
    if isinstance(error, exceptions.ValidationError):
        status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
        errors = list(_flatten(error.detail, ""))
        detail = "Correct the fields named in `errors` and send the request again."
    elif isinstance(error, exceptions.ParseError):
        detail = f"The body is not valid JSON: {error.detail}"
    code = "invalid" if errors else str(getattr(error, "default_code", "error"))
    detail = f"{detail} {ADVICE[code]}" if code in ADVICE else detail
    title = str(error.default_detail).rstrip(".") if not errors else "The content is not valid"
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))  # type: ignore[attr-defined]
    body = document(status_code=status_code, code=code, title=title, detail=detail, errors=errors)
    return Response(body, status=status_code, headers=headers, content_type=CONTENT_TYPE)


def _flatten(detail: Any, pointer: str) -> Any:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            member = str(name).replace("~", "~0").replace("/", "~1")
            yield from _flatten(inner, pointer if name == "non_field_errors" else f"{pointer}/{member}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            yield from _flatten(inner, f"{pointer}/{index}" if isinstance(inner, dict) and inner else pointer)
    else:
        yield {"pointer": pointer or "/", "detail": str(detail)}

"""The shared parts of the API's description: the problem, its refusals, headers and header parameters."""

from typing import Any

from kernel import idempotency
from kernel.api import problems
from kernel.api.schema import REFUSALS

_TEXT: dict[str, Any] = {"type": "string"}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong and what to do (RFC 9457). Further members depend on the code.",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "Stable; names the kind of problem."},
        "title": _TEXT,
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "code": {"type": "string", "pattern": "^[a-z0-9_]+$", "description": "Stable; for programs to branch on."},
        "detail": {"type": "string", "description": "For people: what is wrong here, and what to do."},
        "request_id": {"type": "string", "description": "As in X-Request-Id; quote it when you ask for help."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON pointer (RFC 6901) into the body."},
                    "parameter": {"type": "string", "description": "Name of a query parameter."},
                    "detail": _TEXT,
                },
            },
        },
    },
}
HEADERS: dict[str, Any] = {
    "X-Request-Id": {"description": "The id of this request, in logs and problems too.", "schema": _TEXT},
    "RateLimit-Policy": {"description": 'The limit: `"default";q=600;w=60` is 600 in 60 seconds.', "schema": _TEXT},
    "RateLimit": {"description": 'What is left: `"default";r=599;t=42`, for 42 seconds more.', "schema": _TEXT},
    "ETag": {"description": "The version of what is shown; for If-Match and If-None-Match.", "schema": _TEXT},
    "Idempotency-Replayed": {"description": "`true` when the kept answer of an earlier request.", "schema": _TEXT},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "schema": _TEXT},
    "Allow": {"description": "The methods of this address.", "schema": _TEXT},
}
_OF_STATUS = {"401": ["WWW-Authenticate"], "405": ["Allow"], "429": ["Retry-After", "RateLimit", "RateLimit-Policy"]}


def _parameter(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"} | schema}


PARAMETERS: dict[str, Any] = {
    "X-Request-Id": _parameter(
        "X-Request-Id",
        "Your own id for this request. One of another form is replaced.",
        pattern="^[A-Za-z0-9._-]{8,64}$",
    ),
    "Idempotency-Key": _parameter(
        "Idempotency-Key",
        "Makes a repetition harmless: the same key with the same body gets the first answer.",
        pattern="^[!-~]+$",
        minLength=1,
        maxLength=idempotency.KEY_LENGTH,
    ),
    "If-Match": _parameter("If-Match", "The ETag that you have read: 412 if it has changed since."),
    "If-None-Match": _parameter("If-None-Match", "The ETag that you have: 304 if it is still that."),
}


def _refusal(status: str) -> dict[str, Any]:
    _, code, description = REFUSALS[status]
    example = problems.document(status_code=int(status), code=code, title=description.rstrip("."), detail=description)
    names = ["X-Request-Id", *_OF_STATUS.get(status, [])]
    return {
        "description": description,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {
            problems.CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {"example": {"value": example | {"request_id": "4f0c2a3b9d6e4f1a8b7c6d5e4f3a2b1c"}}},
            }
        },
    }


def add(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook of drf-spectacular."""
    parts = result.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = PROBLEM
    parts["headers"] = HEADERS
    parts["parameters"] = PARAMETERS
    parts["responses"] = {REFUSALS[status][0]: _refusal(status) for status in REFUSALS}
    return result

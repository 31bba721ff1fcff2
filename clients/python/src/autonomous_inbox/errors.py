"""What can go wrong, as exceptions. Those of the API carry its problem document (RFC 9457)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class InboxError(Exception):
    """Base of everything that this package raises."""


class ConnectionFailed(InboxError):
    """No answer came, however often it was tried."""


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field of the request; `pointer` is a JSON pointer into its body (RFC 6901)."""

    pointer: str
    detail: str


class ApiError(InboxError):
    """The API refused. `code` is stable and for programs; `detail` says to people what to do."""

    def __init__(self, status: int, problem: Mapping[str, Any], *, request_id: str = "") -> None:
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.request_id = str(problem.get("request_id") or request_id)
        self.errors = [
            FieldError(str(item.get("pointer", "")), str(item.get("detail", "")))
            for item in problem.get("errors") or ()
        ]
        self.problem = dict(problem)
        super().__init__(self._text())

    @property
    def pointer(self) -> str:
        """Of the first field that is wrong; empty when it is not about a field."""
        return self.errors[0].pointer if self.errors else ""

    def _text(self) -> str:
        fields = "".join(f"; {item.pointer}: {item.detail}" for item in self.errors)
        return f"{self.status} {self.code}: {self.detail or self.title}{fields} (request {self.request_id})"


class BadRequest(ApiError):
    """400: the request is malformed."""


class AuthenticationFailed(ApiError):
    """401: the key or token is missing, expired or revoked."""


class PermissionDenied(ApiError):
    """403: the key or token lacks a permission; `problem["permission"]` names it."""


class NotFound(ApiError):
    """404: nothing of that id is in the workspace."""


class Conflict(ApiError):
    """409: in conflict with what is there."""


class PreconditionFailed(ApiError):
    """412: somebody has changed it since it was read. Read it again."""


class Invalid(ApiError):
    """422: the content is not valid; `errors` point at the fields."""


class RateLimited(ApiError):
    """429: too many requests, for longer than the client was willing to wait."""

    retry_after: float | None = None


class Fault(ApiError):
    """5xx: the server failed. Name `request_id` to its operator."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    422: Invalid,
    429: RateLimited,
}


def of_answer(status: int, problem: Mapping[str, Any], *, request_id: str = "") -> ApiError:
    """The exception for an answer that is no success."""
    return _BY_STATUS.get(status, Fault if status >= 500 else ApiError)(status, problem, request_id=request_id)

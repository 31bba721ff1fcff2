"""The door to the API: a tool's call goes through the very application that serves HTTP, with the caller's credential.

So authentication, permissions, the fence between workspaces, idempotency, limits, audit and problems are those of the API,
whatever they come to be, and a tool can do nothing that a request could not.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import orjson
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from rest_framework.request import Request

from kernel.access import Principal
from kernel.errors import Unauthenticated
from tenancy.authentication import MachineAuthentication

_ROOT: Final = "/api/v1/"
# What describes the caller's own request and not the caller.
_OWN: Final = frozenset(
    {
        "HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_CONNECTION", "HTTP_COOKIE", "HTTP_EXPECT", "HTTP_IDEMPOTENCY_KEY",
        "HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_ORIGIN", "HTTP_RANGE", "HTTP_REFERER", "HTTP_TRANSFER_ENCODING",
        "HTTP_UPGRADE", "HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_REQUEST_ID",
    }
)  # fmt: skip
_ADDRESS: Final = ("REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT")


class Refused(Exception):
    """The API said no: its problem document (RFC 9457)."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail", ""))
        self.problem = problem


@dataclass(frozen=True)
class Caller:
    """Whoever calls, as their request showed them: headers and address, under an id that audit and logs keep."""

    environ: Mapping[str, str]
    scheme: str
    request_id: str

    @classmethod
    def of_request(cls, meta: Mapping[str, Any], *, scheme: str, request_id: str) -> "Caller":
        """The caller behind an HTTP request, with what proxies say of them."""
        kept = {
            name: str(value)
            for name, value in meta.items()
            if (name.startswith("HTTP_") and name not in _OWN) or name in _ADDRESS
        }
        return cls(environ=kept, scheme=scheme, request_id=request_id)

    @classmethod
    def with_credential(cls, credential: str, *, request_id: str) -> "Caller":
        """The caller at the other end of a pipe, on this machine."""
        place = urlsplit(settings.PUBLIC_URL)
        environ = {
            "HTTP_AUTHORIZATION": f"Bearer {credential}",
            "HTTP_HOST": place.netloc,
            "HTTP_X_FORWARDED_PROTO": "https",
            "REMOTE_ADDR": "127.0.0.1",
            "SERVER_NAME": place.hostname or "localhost",
            "SERVER_PORT": str(place.port or 443),
        }
        # Nothing goes over a network here, so a rule that asks for TLS is kept.
        return cls(environ=environ, scheme="https", request_id=request_id)

    def principal(self) -> Principal:
        """Who this is, by the same check as the API's; looked up at every call, so that a revoked key is out at once."""
        answer = MachineAuthentication().authenticate(Request(WSGIRequest(self.environ_of("GET", _ROOT))))
        if answer is None or not isinstance(answer[0], Principal):
            raise Unauthenticated("Authenticate with `Authorization: Bearer` and a machine key or a machine token.")
        return answer[0]

    def environ_of(
        self, method: str, path: str, *, query: str = "", body: bytes = b"", **headers: str
    ) -> dict[str, Any]:
        """A request of this caller, in the terms of WSGI (PEP 3333)."""
        return {
            **self.environ,
            **headers,
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_ACCEPT": "application/json",
            "HTTP_X_REQUEST_ID": self.request_id,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": self.scheme,
            "wsgi.input": BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }


@cache
def _application() -> WSGIHandler:
    from config.wsgi import application

    return application


@dataclass(frozen=True)
class Api:
    """The API in the hands of one caller. A refusal is raised, whatever else comes is the body."""

    caller: Caller

    def get(self, *path: object, **query: object) -> Any:
        """Read. Parameters that are None are left out."""
        return self._call("GET", path, query=urlencode({k: v for k, v in query.items() if v is not None}))

    def post(self, *path: object, body: dict[str, Any] | None = None, key: str | None = None) -> Any:
        """Create or act; once for each idempotency key."""
        headers = {} if key is None else {"HTTP_IDEMPOTENCY_KEY": key}
        return self._call("POST", path, body=body or {}, **headers)

    def patch(self, *path: object, body: dict[str, Any]) -> Any:
        """Change what `body` names."""
        return self._call("PATCH", path, body=body)

    def delete(self, *path: object) -> Any:
        """Delete."""
        return self._call("DELETE", path)

    def _call(
        self,
        method: str,
        path: tuple[object, ...],
        *,
        query: str = "",
        body: dict[str, Any] | None = None,
        **headers: str,
    ) -> Any:
        target = _ROOT + "/".join(quote(str(part), safe="") for part in path)
        content = b"" if body is None else orjson.dumps(body)
        environ = self.caller.environ_of(method, target, query=query, body=content, **headers)
        statuses: list[str] = []

        def start(status: str, _headers: Any, _error: Any = None, /) -> Callable[[bytes], object]:
            statuses.append(status)
            return lambda _chunk: None

        response = _application()(environ, start)
        try:
            answer = b"".join(response)
        finally:
            response.close()
        return _read(int(statuses[0].partition(" ")[0]), answer, self.caller.request_id)


def _read(status: int, answer: bytes, request_id: str) -> Any:
    if 200 <= status < 300:
        return orjson.loads(answer) if answer else None
    try:
        problem = orjson.loads(answer)
    except orjson.JSONDecodeError:
        problem = None
    if status >= 500 or not isinstance(problem, dict):
        problem = {
            "code": "fault",
            "status": status,
            "detail": "Something failed here; your call was not at fault. Try again later, and name the request id to the"
            " operator if it stays so.",
            "request_id": request_id,
        }
    raise Refused(problem)

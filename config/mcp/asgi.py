"""MCP over streamable HTTP, as an ASGI application of its own: `granian --interface asgi config.mcp.asgi:application`.

Stateless: every request proves who it comes from, and no process remembers any; so there may be several.
"""

import os
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
django.setup()

import orjson  # noqa: E402 - Django first
from django.conf import settings  # noqa: E402
from django.core.exceptions import DisallowedHost  # noqa: E402
from django.core.handlers.asgi import ASGIRequest  # noqa: E402
from mcp.server.context import ServerRequestContext  # noqa: E402
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: E402
from rest_framework.exceptions import AuthenticationFailed  # noqa: E402

from config.mcp import server, threads  # noqa: E402
from config.mcp.door import Caller  # noqa: E402
from kernel.api import problems  # noqa: E402
from kernel.errors import Unauthenticated  # noqa: E402

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH: Final = "/mcp"
_CALLER: Final = "inbox.caller"
_MAX_BODY: Final = 256 * 1024


class Turned(Exception):
    """The request goes no further: status, code, what to do, and further headers."""

    def __init__(self, status: int, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.headers = status, code, detail, headers


class Application:
    """The guard before the protocol: who may speak to this server at all, and from where."""

    def __init__(self) -> None:
        self._sessions = self._new_sessions()

    def _new_sessions(self) -> StreamableHTTPSessionManager:
        # Host and Origin are checked below, by the rules that the rest of the installation has.
        return StreamableHTTPSessionManager(
            server.build(_caller_of), stateless=True, json_response=True, max_request_body_size=_MAX_BODY
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._sessions.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await _reply(send, 200, {"status": "ok"})
            return
        request_id = f"mcp-{uuid.uuid4().hex}"
        try:
            scope[_CALLER] = await self._admit(scope, request_id)
        except Turned as turned:
            body = problems.document(
                status_code=turned.status, code=turned.code, title="Not admitted", detail=turned.detail
            ) | {"request_id": request_id}
            headers = {"X-Request-Id": request_id, **{k.replace("_", "-"): v for k, v in turned.headers.items()}}
            await _reply(send, turned.status, body, content_type=problems.CONTENT_TYPE, **headers)
            return
        await self._sessions.handle_request(scope, receive, send)

    async def _admit(self, scope: Scope, request_id: str) -> Caller:
        if scope["path"].rstrip("/") != PATH:
            raise Turned(404, "not_found", f"MCP is spoken at {PATH}.")
        request = ASGIRequest(scope, BytesIO())
        _check_place(request)
        if request.method != "POST":
            raise Turned(405, "method_not_allowed", "Send each message as a POST; there are no sessions.", Allow="POST")
        caller = Caller.of_request(request.META, scheme=request.scheme or "http", request_id=request_id)
        try:
            await threads.run(caller.principal)
        except (AuthenticationFailed, Unauthenticated) as error:
            raise Turned(401, "not_authenticated", str(error), WWW_Authenticate=problems.CHALLENGE) from error
        return caller


def _check_place(request: ASGIRequest) -> None:
    """No other site may lead a browser here (DNS rebinding), and no credential travels in the open."""
    try:
        request.get_host()
    except DisallowedHost as error:
        raise Turned(421, "wrong_host", "This host name is not served here. Name it in ALLOWED_HOSTS.") from error
    if settings.SECURE_SSL_REDIRECT and not request.is_secure():
        raise Turned(403, "https_needed", "Use https: the credential would travel in the open.")
    origin = request.headers.get("Origin")
    if origin is not None and origin not in _origins():
        raise Turned(403, "wrong_origin", "Pages of this origin may not call. Name it in MCP_ALLOWED_ORIGINS.")


def _origins() -> set[str]:
    own = urlsplit(settings.PUBLIC_URL)
    return {f"{own.scheme}://{own.netloc}", *settings.MCP_ALLOWED_ORIGINS}


def _caller_of(context: ServerRequestContext[Any, Any]) -> Caller:
    """Whom the guard has let in with this request."""
    assert context.request is not None
    caller: Caller = context.request.scope[_CALLER]
    return caller


async def _reply(
    send: Send, status: int, body: dict[str, Any], *, content_type: str = "application/json", **headers: str
) -> None:
    fields = {"Content-Type": content_type, "X-Content-Type-Options": "nosniff", **headers}
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
        }
    )
    await send({"type": "http.response.body", "body": orjson.dumps(body)})


application = Application()

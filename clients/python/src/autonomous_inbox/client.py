"""The two clients. Both are thin: a resource's method makes a Call, and here it is sent, tried again, and judged."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from autonomous_inbox import __version__
from autonomous_inbox.async_resources import AsyncResources
from autonomous_inbox.errors import ConnectionFailed, PreconditionFailed
from autonomous_inbox.resources import Resources
from autonomous_inbox.wire import Call, Reply, Retries, Versioned

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "User-Agent": f"autonomous-inbox-client/{__version__}"}


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address of an inbox; it looks like https://inbox.example.com.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ValueError("Use https: over http the key would travel in the open.")
    return url.rstrip("/")


class Client(Resources):
    """The API of one installation for one key or token. Usable from several threads; close it, or use it with `with`.

    `http` brings a client of your own, with proxies or certificates; it is not closed here.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        self._base, self._sent, self._retries = _checked(base_url), _headers(key), retries or Retries()
        self._own = http is None
        self._http = http or httpx2.Client(timeout=timeout, follow_redirects=False)
        super().__init__(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base}>"

    def close(self) -> None:
        """Close the connections."""
        if self._own:
            self._http.close()

    def send(self, call: Call) -> Any:
        """Send a call that no method covers; the JSON of the answer. Raises an ApiError or ConnectionFailed."""
        return self.exchange(call).json()

    def exchange(self, call: Call) -> Reply:
        """The same, with status and headers of the answer."""
        waits = self._retries.waits(call)
        while True:
            reply, failure = self._once(call)
            if reply is not None and waits.is_done(reply):
                return reply
            wait = waits.after(reply)
            if wait is None:
                raise reply.error() if reply is not None else ConnectionFailed(str(failure)) from failure
            time.sleep(wait)

    def edit(self, read: Call, write: Call, change: Callable[[Any], Mapping[str, Any]], *, tries: int) -> Any:
        """Read, change and write back; anew when somebody else was faster."""
        for remaining in reversed(range(tries)):
            reply = self.exchange(read)
            try:
                return self.send(replace(write, body=dict(change(reply.json())), if_match=reply.etag))
            except PreconditionFailed:
                if not remaining:
                    raise
        raise ValueError("tries must be at least 1.")

    def versioned(self, call: Call) -> Versioned[Any]:
        """What a call reads, with its version."""
        reply = self.exchange(call)
        return Versioned(reply.json(), reply.etag)

    def _once(self, call: Call) -> tuple[Reply | None, httpx2.TransportError | None]:
        try:
            response = self._http.request(
                call.method,
                self._base + call.path,
                params=call.parameters,
                content=call.content,
                headers=self._sent | call.headers,
            )
        except httpx2.TransportError as failure:
            return None, failure
        return Reply(response.status_code, response.headers, response.content), None


class AsyncClient(AsyncResources):
    """The same for asyncio."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        self._base, self._sent, self._retries = _checked(base_url), _headers(key), retries or Retries()
        self._own = http is None
        self._http = http or httpx2.AsyncClient(timeout=timeout, follow_redirects=False)
        super().__init__(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base}>"

    async def close(self) -> None:
        """Close the connections."""
        if self._own:
            await self._http.aclose()

    async def send(self, call: Call) -> Any:
        """Send a call that no method covers; the JSON of the answer. Raises an ApiError or ConnectionFailed."""
        return (await self.exchange(call)).json()

    async def exchange(self, call: Call) -> Reply:
        """The same, with status and headers of the answer."""
        waits = self._retries.waits(call)
        while True:
            reply, failure = await self._once(call)
            if reply is not None and waits.is_done(reply):
                return reply
            wait = waits.after(reply)
            if wait is None:
                raise reply.error() if reply is not None else ConnectionFailed(str(failure)) from failure
            await asyncio.sleep(wait)

    async def edit(self, read: Call, write: Call, change: Callable[[Any], Mapping[str, Any]], *, tries: int) -> Any:
        """Read, change and write back; anew when somebody else was faster."""
        for remaining in reversed(range(tries)):
            reply = await self.exchange(read)
            try:
                return await self.send(replace(write, body=dict(change(reply.json())), if_match=reply.etag))
            except PreconditionFailed:
                if not remaining:
                    raise
        raise ValueError("tries must be at least 1.")

    async def versioned(self, call: Call) -> Versioned[Any]:
        """What a call reads, with its version."""
        reply = await self.exchange(call)
        return Versioned(reply.json(), reply.etag)

    async def _once(self, call: Call) -> tuple[Reply | None, httpx2.TransportError | None]:
        try:
            response = await self._http.request(
                call.method,
                self._base + call.path,
                params=call.parameters,
                content=call.content,
                headers=self._sent | call.headers,
            )
        except httpx2.TransportError as failure:
            return None, failure
        return Reply(response.status_code, response.headers, response.content), None

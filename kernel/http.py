"""The one guarded client for requests to the outside: webhooks, certificates, confirmations.

Names are resolved once, every address is checked, and the connection goes to a checked address; no redirects, no
proxies from the environment, no cookies, a deadline for the whole exchange and a cap on what is read of the answer.
"""

import asyncio
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from django.conf import settings
from yarl import URL

from kernel.addresses import may_connect
from kernel.errors import Invalid

_CLOSED_PORTS = frozenset({0, 19, 22, 23, 25, 110, 143, 465, 587, 993, 995, 3306, 5432, 6379, 11211})


class AddressRefused(Invalid):
    """The URL leads, or may lead, to a place that outbound requests must not reach."""

    code = "address_refused"


@dataclass(frozen=True)
class Reply:
    """What came back: status, headers in lower case, and at most the capped bytes of the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool


def check_url(url: str) -> URL:
    """Parse with the parser that will connect, and refuse what no public endpoint needs. No look-up is made."""
    return _checked(url, settings.OUTBOUND_ALLOW_HTTP, tuple(settings.OUTBOUND_ALLOWED_NETWORKS))


# Remembered, because senders check again before each of thousands of requests a second; refusals are not.
@lru_cache(maxsize=4096)
def _checked(url: str, allow_http: bool, allowed: tuple[str, ...]) -> URL:
    try:
        parsed = URL(url)
        port, host = parsed.port, parsed.raw_host or ""
    except (ValueError, TypeError) as error:
        raise AddressRefused("This is not a URL that can be called. Give one like https://example.com/hook.") from error
    if parsed.scheme not in ({"https", "http"} if allow_http else {"https"}):
        raise AddressRefused("Only https URLs are called.")
    if any(c.isspace() or ord(c) < 0x21 or c == "\\" for c in url) or _USER.match(url):
        raise AddressRefused("The URL may not hold spaces, backslashes or a user name.")
    if port in _CLOSED_PORTS:
        raise AddressRefused(f"Port {port} is not called.")
    _check_host(host.lower(), allowed)
    return parsed


# What a public name looks like once it is ASCII. Its last label begins with a letter, so it is no number: those are
# spellings of addresses, which the system's resolver reads generously (127.1, 0x7f.0.0.0xf) and which the connector
# takes without asking a resolver.
_NAME = re.compile(r"(?=.{4,254}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\.?")
_USER = re.compile(r"[^/]*//[^/?#]*@")
_CLOSED_NAMES = (".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".arpa", ".onion")


def _check_host(host: str, allowed: tuple[str, ...]) -> None:
    """Pass public names and public addresses in their plain form. `host` is what the connector gets, in lower case."""
    if may_connect(host, allowed=allowed):
        return
    if not _NAME.fullmatch(host) or host.rstrip(".").endswith(_CLOSED_NAMES):
        raise AddressRefused("The host must be a public name such as example.com, or a public address.")


class GuardedResolver(AbstractResolver):
    """Resolves once and gives the connector only addresses that may be reached; one bad address spoils the name."""

    def __init__(self) -> None:
        self._system = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._system.resolve(host, port, family)
        if not found or not all(may_connect(r["host"], allowed=settings.OUTBOUND_ALLOWED_NETWORKS) for r in found):
            raise AddressRefused(f"{host} resolves to an address that is not public.")
        return found

    async def close(self) -> None:
        await self._system.close()


def session(*, connections: int = 100, per_host: int = 0) -> aiohttp.ClientSession:
    """A client session for many requests, to be closed by the caller. Only `send` should use it."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=GuardedResolver(), limit=connections, limit_per_host=per_host),
        cookie_jar=aiohttp.DummyCookieJar(),
        # `send` keeps the one deadline; timers of the client's own would only cost time.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=["User-Agent", "Accept", "Accept-Encoding"],
    )


async def send(
    client: aiohttp.ClientSession,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    deadline: float,
    read_limit: int = 64 * 1024,
) -> Reply:
    """One request without redirects. `deadline` is in seconds, for all of it; `read_limit` in bytes of the answer.

    Raises AddressRefused, TimeoutError or aiohttp.ClientError.
    """
    target = check_url(url)
    async with asyncio.timeout(deadline):
        async with client.request(method, target, headers=headers, data=body, allow_redirects=False) as response:
            held = bytearray()
            async for chunk in response.content.iter_chunked(16 * 1024):
                held += chunk
                if len(held) > read_limit:
                    response.close()
                    break
            lower = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, lower, bytes(held[:read_limit]), truncated=len(held) > read_limit)


def fetch(method: str, url: str, *, deadline: float = 10, **options: Any) -> Reply:
    """The same for code without an event loop; opens and closes its own connection."""

    async def run() -> Reply:
        async with session(connections=1) as client:
            return await send(client, method, url, deadline=deadline, **options)

    return asyncio.run(run())

"""The one guarded client for requests to the outside: webhooks, certificates, confirmations.

Names are resolved once, every address is checked, and the connection goes to a checked address; no redirects, no
proxies from the environment, no cookies, a deadline for the whole exchange and a cap on what is read of the answer.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic
from typing import Any, Self

import certifi
import pycurl
from django.conf import settings
from yarl import URL

from kernel.addresses import may_connect
from kernel.curl import Engine, Exchange
from kernel.errors import Invalid
from kernel.names import Names

# What libcurl would add by itself.
_UNSENT = ("Accept:", "Expect:")
_ENDS_A_LINE = re.compile(r"[\r\n\0]")
_BROKEN = frozenset({pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_GOT_NOTHING})
_SENTENCES = {
    pycurl.E_COULDNT_CONNECT: "No connection: {}",
    pycurl.E_COULDNT_RESOLVE_HOST: "No connection: {}",
    pycurl.E_SSL_CONNECT_ERROR: "No trusted TLS connection: {}",
    pycurl.E_PEER_FAILED_VERIFICATION: "No trusted TLS connection: {}",
    pycurl.E_GOT_NOTHING: "The connection was closed before an answer came.",
    pycurl.E_SEND_FAIL_REWIND: "The connection was closed before an answer came.",
    pycurl.E_SEND_ERROR: "The connection was closed before an answer came.",
    pycurl.E_RECV_ERROR: "The connection was closed before an answer came.",
    pycurl.E_PARTIAL_FILE: "The answer broke off.",
    pycurl.E_UNSUPPORTED_PROTOCOL: "The answer is no HTTP: {}",
    pycurl.E_FTP_WEIRD_SERVER_REPLY: "The answer is no HTTP: {}",
}
_CLOSED_PORTS = frozenset({0, 19, 22, 23, 25, 110, 143, 465, 587, 993, 995, 3306, 5432, 6379, 11211})


class AddressRefused(Invalid):
    """The URL leads, or may lead, to a place that outbound requests must not reach."""

    code = "address_refused"


class NoAnswer(OSError):
    """No whole answer came; the text is a sentence for the owner of the endpoint."""


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL, in the one spelling that is handed on; `is_name` when its host has to be looked up."""

    url: str
    scheme: str
    host: str
    port: int
    is_name: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the status, the header lines as they came, and at most the capped bytes of the body."""

    status: int
    head: Sequence[bytes]
    body: bytes
    truncated: bool

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the final answer, names in lower case; of a repeated one the last."""
        found: dict[str, str] = {}
        for line in self.head:
            if line.startswith(b"HTTP/"):
                found.clear()
            name, colon, value = line.decode("latin-1").partition(":")
            if colon:
                found[name.strip().lower()] = value.strip()
        return found


def check_url(url: str) -> Target:
    """Parse, and refuse what no public endpoint needs. No look-up is made."""
    return _checked(url, settings.OUTBOUND_ALLOW_HTTP, tuple(settings.OUTBOUND_ALLOWED_NETWORKS))


# Remembered, because senders check again before each of thousands of requests a second; refusals are not.
@lru_cache(maxsize=4096)
def _checked(url: str, allow_http: bool, allowed: tuple[str, ...]) -> Target:
    try:
        parsed = URL(url).with_fragment(None)
        port, host = parsed.port, (parsed.raw_host or "").lower()
    except (ValueError, TypeError) as error:
        raise AddressRefused("This is not a URL that can be called. Give one like https://example.com/hook.") from error
    if parsed.scheme not in ({"https", "http"} if allow_http else {"https"}):
        raise AddressRefused("Only https URLs are called.")
    if any(c.isspace() or ord(c) < 0x21 or c == "\\" for c in url) or _USER.match(url):
        raise AddressRefused("The URL may not hold spaces, backslashes or a user name.")
    if port is None or port in _CLOSED_PORTS:
        raise AddressRefused(f"Port {port} is not called.")
    is_name = _check_host(host, allowed)
    return Target(str(parsed), parsed.scheme, host, port, is_name)


# What a public name looks like once it is ASCII. Its last label begins with a letter, so it is no number: those are
# spellings of addresses, which the system's resolver reads generously (127.1, 0x7f.0.0.0xf) and which the connector
# takes without asking a resolver.
_NAME = re.compile(r"(?=.{4,254}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\.?")
_USER = re.compile(r"[^/]*//[^/?#]*@")
_CLOSED_NAMES = (".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".arpa", ".onion")


def _check_host(host: str, allowed: tuple[str, ...]) -> bool:
    """Pass public names (True) and public addresses in their plain form (False). `host` is in lower case."""
    if may_connect(host, allowed=allowed):
        return False
    if not _NAME.fullmatch(host) or host.rstrip(".").endswith(_CLOSED_NAMES):
        raise AddressRefused("The host must be a public name such as example.com, or a public address.")
    return True


class Session:
    """Connections that are kept for many requests; made within a running loop. Only `send` should use it."""

    def __init__(self, *, connections: int = 100) -> None:
        self._connections = connections

    async def __aenter__(self) -> Self:
        self.engine = Engine(connections=self._connections, prepare=_guard)
        self._names = Names(resolve)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.engine.close()
        self._names.close()

    async def addresses(self, target: Target) -> list[str]:
        """The addresses of a name, checked at each request, as entries of RESOLVE."""
        return _entries(target, await self._names.addresses(target.host, target.port))


async def send(
    session: Session,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    deadline: float,
    read_limit: int = 64 * 1024,
) -> Reply:
    """One request without redirects. `deadline` is in seconds, for all of it; `read_limit` in bytes of the answer.

    Raises AddressRefused, TimeoutError or NoAnswer.
    """
    target, began = check_url(url), monotonic()
    lines = [*_UNSENT, *[f"{name}: {value}" for name, value in (headers or {}).items()]]
    if _ENDS_A_LINE.search("".join(lines)):
        raise ValueError("a header may not hold a line break or a NUL")
    addresses: list[str] = []
    if target.is_name:
        async with asyncio.timeout(deadline):
            addresses = await session.addresses(target)
    exchange = await session.engine.perform(
        method,
        target.url,
        headers=lines,
        body=body,
        seconds=deadline - (monotonic() - began),
        limit=read_limit,
        addresses=addresses,
    )
    if exchange.code and not exchange.is_cut:
        raise _failure(exchange)
    return Reply(exchange.status, exchange.head, bytes(exchange.body[:read_limit]), exchange.is_cut)


def fetch(method: str, url: str, *, deadline: float = 10, **options: Any) -> Reply:
    """The same for code without an event loop; opens and closes its own connection."""

    async def run() -> Reply:
        async with Session(connections=1) as session:
            return await send(session, method, url, deadline=deadline, **options)

    return asyncio.run(run())


def _guard(handle: Any) -> None:
    """What every request has in common: nothing of the environment, and only sockets to places that may be reached."""
    paths = ssl.get_default_verify_paths()
    handle.setopt(pycurl.CAINFO, paths.cafile or certifi.where())
    if paths.capath:
        handle.setopt(pycurl.CAPATH, paths.capath)
    handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    handle.setopt(pycurl.HTTP09_ALLOWED, 0)
    handle.setopt(pycurl.FOLLOWLOCATION, 0)
    handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
    handle.setopt(pycurl.PROXY, "")
    handle.setopt(pycurl.NOPROXY, "*")
    handle.setopt(pycurl.OPENSOCKETFUNCTION, partial(_open_socket, handle))


def _open_socket(handle: Any, _purpose: int, address: Any) -> Any:
    """Whatever was parsed and looked up before: here stands the address that is connected to."""
    family, kind, protocol, place = address
    if not may_connect(place[0], allowed=settings.OUTBOUND_ALLOWED_NETWORKS):
        handle.exchange.refused = str(place[0])
        return pycurl.SOCKET_BAD
    opened = socket.socket(family, kind, protocol)
    # The caller takes a duplicate.
    asyncio.get_running_loop().call_soon(opened.close)
    return opened


def _entries(target: Target, found: Sequence[str]) -> list[str]:
    """One closed address spoils the name. The connection goes to what is returned here."""
    if not found or not all(may_connect(each, allowed=settings.OUTBOUND_ALLOWED_NETWORKS) for each in found):
        raise AddressRefused(f"{target.host} resolves to an address that is not public.")
    listed = ",".join(f"[{each}]" if ":" in each else each for each in found)
    return [f"{target.host}:{target.port}:{listed}"]


async def resolve(host: str, port: int, threads: Executor) -> list[str]:
    """The addresses that the system knows for a name. Raises NoAnswer when it knows none."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        found = await asyncio.get_running_loop().run_in_executor(threads, ask)
    except OSError as error:
        raise NoAnswer(f"No connection: {host} is not known ({error.strerror}).") from error
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def _failure(exchange: Exchange) -> Exception:
    if exchange.refused:
        return AddressRefused("The connection would have gone to an address that is not public.")
    if exchange.code == pycurl.E_OPERATION_TIMEDOUT:
        return TimeoutError()
    sentence = _SENTENCES.get(exchange.code, "The exchange failed: {}")
    if exchange.head and exchange.code in _BROKEN:
        sentence = "The answer broke off."
    return NoAnswer(sentence.format(exchange.error))

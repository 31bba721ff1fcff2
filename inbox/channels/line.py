"""A line to an SMTP server: whom it may lead to, and how long a conversation may last.

The library's timeout counts from one byte to the next, so a server that says a little now and then would hold a thread for
ever. Here a watchdog hangs up at the end of the time, whatever is being said, and the library finds the line dead.
"""

import smtplib
import socket
import threading
import time
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from django.conf import settings

from kernel import addresses


def our_name() -> str:
    """What we call ourselves in EHLO and in greetings (RFC 5321, 4.1.1.1): the host of PUBLIC_URL.

    The machine's own name would be, in a container, a number that no other server can look up.
    """
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    try:
        address = ip_address(host)
    except ValueError:
        return host.encode("idna").decode("ascii")
    return f"[IPv6:{address}]" if isinstance(address, IPv6Address) else f"[{address}]"


class Line:
    """One conversation, as a `with` block.

    A guarded one connects to an address that it has looked at; the name stays what the certificate is held against.
    """

    def __init__(self, *, deadline: float, guarded: bool) -> None:
        self._seconds = deadline
        self._guarded = guarded
        self._ends = time.monotonic() + deadline
        self._lock = threading.Lock()
        self._handle: socket.socket | None = None
        self._watchdog = threading.Timer(deadline, self._hang_up)
        self._watchdog.daemon = True

    def __enter__(self) -> Self:
        self._watchdog.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchdog.cancel()
        with self._lock:
            if self._handle:
                self._handle.close()
                self._handle = None

    def open(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect, within what is left of the time, to the first address that answers."""
        refused: OSError = TimeoutError("no time is left")
        for address in self._addresses(host, port):
            left = self._ends - time.monotonic()
            if left <= 0:
                break
            try:
                return self._held(socket.create_connection((address, port), min(timeout, left)))
            except OSError as error:
                refused = error
        raise refused

    def fault(self, error: Exception) -> str:
        """What to write down of an error; of one that the watchdog made, what it was."""
        if time.monotonic() >= self._ends:
            return f"the conversation was not over after {self._seconds:g} seconds"
        return f"{type(error).__name__}: {error}"

    def _addresses(self, host: str, port: int) -> list[str]:
        found = [str(item[4][0]) for item in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        if not self._guarded:
            return found
        open_networks = settings.OUTBOUND_ALLOWED_NETWORKS
        if not all(addresses.may_connect(address, allowed=open_networks) for address in found):
            raise OSError("the name leads to an address that is not public")
        return [min(found)]

    def _held(self, opened: socket.socket) -> socket.socket:
        """A handle of our own on the connection: TLS takes the first one over, and its number may be somebody else's later."""
        with self._lock:
            self._handle = opened.dup()
        if time.monotonic() >= self._ends:
            self._hang_up()
        return opened

    def _hang_up(self) -> None:
        with self._lock, suppress(OSError):
            if self._handle:
                self._handle.shutdown(socket.SHUT_RDWR)


class PlainClient(smtplib.SMTP):
    """The library's client, on a line of ours; STARTTLS may follow."""

    def __init__(self, *given: Any, line: Line, **options: Any) -> None:
        self._line = line
        super().__init__(*given, **options)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._line.open(host, port, timeout)


class TlsClient(smtplib.SMTP_SSL, PlainClient):
    """The same, with TLS from the first byte."""

    def __init__(self, *given: Any, line: Line, **options: Any) -> None:
        self._line = line
        smtplib.SMTP_SSL.__init__(self, *given, **options)

"""A server on the loopback that counts who connects, and answers what it is told."""

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Mood: fine\r\n\r\nok"


class Listener:
    """Accepts on one address; `hits` counts connections, `requests` holds what came."""

    def __init__(
        self, host: str, port: int = 0, *, answer: bytes = OK, drip: float = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.hits = 0
        self.requests: list[bytes] = []
        self.answer, self.drip, self.tls = answer, drip, tls
        self.socket = socket.create_server((host, port))
        self.port: int = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self.socket.accept()
                self.hits += 1
                threading.Thread(target=self._talk, args=[peer], daemon=True).start()

    def _talk(self, peer: socket.socket) -> None:
        with suppress(OSError), self.tls.wrap_socket(peer, server_side=True) if self.tls else peer as peer:
            self.requests.append(_request(peer))
            if not self.drip:
                peer.sendall(self.answer)
                return
            for byte in self.answer:
                peer.sendall(bytes([byte]))
                time.sleep(self.drip)


def _request(peer: socket.socket) -> bytes:
    """What came; of HTTP the whole request, whose head and body may come apart."""
    came = peer.recv(65536)
    head, _, body = came.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    while length and len(body) < int(length[1]) and (more := peer.recv(65536)):
        came, body = came + more, body + more
    return came


@contextmanager
def listening(host: str, port: int = 0, **options: object) -> Iterator[Listener]:
    made = Listener(host, port, **options)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.socket.close()

"""A local webhook endpoint that trusts nothing: it verifies every delivery with the independent library."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
from standardwebhooks.webhooks import Webhook


@dataclass
class Inbox:
    """What came: verified events, and requests that did not verify."""

    secret: str = ""
    verified: list[tuple[str, str]] = field(default_factory=list)
    refused: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: bytes, headers: dict[str, str]) -> int:
        """The status to answer with."""
        try:
            Webhook(self.secret).verify(body, headers)
        except Exception:  # noqa: BLE001 - the library raises several kinds for a bad signature
            with self.lock:
                self.refused += 1
            return 401
        with self.lock:
            self.verified.append((headers.get("webhook-id", ""), str(orjson.loads(body)["type"])))
        return 204


class Receiver:
    """The endpoint, in a thread of its own."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.inbox))
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(inbox: Inbox) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status = inbox.take(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """The demo prints a table of its own."""

    return Handler

"""Web servers as in production, each a process of its own on the test's database, and clients at any loopback address."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.world.serving import serving


@dataclass(frozen=True)
class Answer:
    """What came back; `told` is the body without what differs from request to request."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def told(self) -> dict[str, Any]:
        return {name: value for name, value in self.body.items() if name != "request_id"}


@dataclass
class Server:
    """One web server; `ask` keeps a connection per client address."""

    port: int
    _connections: dict[str, http.client.HTTPConnection] = field(default_factory=dict)

    def ask(
        self,
        path: str = "/api/v1/workspace",
        *,
        method: str = "GET",
        body: Any = None,
        headers: list[tuple[str, str]] | None = None,
        source: str = "127.0.0.1",
    ) -> Answer:
        """One request from a loopback address. Header names and their number are sent as given."""
        connection = self._connections.setdefault(source, self._connect(source))
        content = json.dumps(body).encode() if body is not None else b""
        was_open = connection.sock is not None
        try:
            connection.putrequest(method, path)
            for name, value in headers or []:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            response = connection.getresponse()
            raw = response.read()
        except (ConnectionError, http.client.HTTPException):
            # The server hangs up on what is no request (a header of a megabyte).
            connection.close()
            # It also does so on a connection that was idle for long, before it has read anything.
            if was_open:
                return self.ask(path, method=method, body=body, headers=headers, source=source)
            return Answer(431, {}, {})
        return Answer(
            response.status,
            {k.lower(): v for k, v in response.getheaders()},
            json.loads(raw or b"{}") if raw[:1] in (b"{", b"") else {},
        )

    def with_key(self, credential: str, path: str = "/api/v1/workspace", **options: Any) -> Answer:
        return self.ask(path, headers=[("Authorization", f"Bearer {credential}")], **options)

    def post(self, path: str, body: Any, credential: str) -> Answer:
        return self.with_key(credential, f"/api/v1/{path}", method="POST", body=body)

    def hang_up(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _connect(self, source: str) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20, source_address=(source, 0))


@contextmanager
def served(count: int = 1, **environment: str) -> Iterator[list[Server]]:
    """`count` servers that know nothing of each other but the database."""
    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(LOG_LEVEL="CRITICAL", **environment)) for _ in range(count)]
        servers = [Server(int(address.rpartition(":")[2])) for address in addresses]
        yield servers
        for server in servers:
            server.hang_up()

"""Callers over HTTP: each with its own credential, and with a connection that it keeps."""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

# The same in each request, because answers are compared byte by byte.
REQUEST_ID = "isolation-proof"
_SECONDS = 30


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    content: bytes


class Caller:
    """Somebody who asks the running system. `headers` carry who it is."""

    def __init__(self, base: str, name: str, headers: Mapping[str, str]) -> None:
        self.name = name
        self._headers = {"X-Request-Id": REQUEST_ID, **headers}
        place = urlsplit(base)
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(place.netloc, timeout=_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request; `body` is sent as JSON. A connection that the server closed is opened again."""
        sent = {**self._headers, **(headers or {})}
        content = None
        if body is not None:
            content, sent["Content-Type"] = orjson.dumps(body), "application/json"
        try:
            return self._exchange(method, path, content, sent)
        except (http.client.RemoteDisconnected, ConnectionError):
            self._connection.close()
            return self._exchange(method, path, content, sent)

    def _exchange(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> Answer:
        self._connection.request(method, path, body=content, headers=headers)
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.read())


def with_key(base: str, name: str, secret: str) -> Caller:
    """A caller with a machine key."""
    return Caller(base, name, {"Authorization": f"Bearer {secret}"})


def nobody(base: str) -> Caller:
    """A caller without a credential."""
    return Caller(base, "nobody", {})

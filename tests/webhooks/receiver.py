"""A receiver on the loopback that answers each path by a script, down to the single byte."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


def answer(status: int, *headers: str, body: bytes = b"") -> Script:
    """A plain answer."""
    lines = [f"HTTP/1.1 {status} Said", *headers, f"content-length: {len(body)}", "", ""]
    payload = "\r\n".join(lines).encode() + body

    async def run(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(payload)
        await writer.drain()

    return run


def sequence(*scripts: Script) -> Script:
    """One script after the other; the last one stays."""
    left = list(scripts)

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(reader, writer)

    return run


def write(*parts: bytes, pause: float = 0.0, close: bool = True) -> Script:
    """Raw bytes, part by part."""

    async def run(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if close:
            writer.close()

    return run


async def hang(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Say nothing."""
    await asyncio.sleep(3600)


async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Tear the connection down."""
    writer.transport.abort()


def slowly(script: Script, seconds: float) -> Script:
    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await script(reader, writer)

    return run


@dataclass
class Receiver:
    """Answers 200 unless a path has a script; keeps every request in the order of arrival."""

    requests: list[Request] = field(default_factory=list)
    scripts: dict[str, Script] = field(default_factory=dict)
    overlaps: dict[str, int] = field(default_factory=dict)
    port: int = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._running: dict[str, int] = {}
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def url(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def at(self, path: str = "/hook") -> list[Request]:
        return [request for request in list(self.requests) if request.path == path]

    def ids(self, path: str = "/hook") -> list[str]:
        return [request.headers["webhook-id"] for request in self.at(path)]

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                request = await _read(reader)
                self.requests.append(request)
                running = self._running[request.path] = self._running.get(request.path, 0) + 1
                self.overlaps[request.path] = max(running, self.overlaps.get(request.path, 0))
                try:
                    await self.scripts.get(request.path, answer(200))(reader, writer)
                finally:
                    self._running[request.path] -= 1
        except (OSError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head[0].split(" ")[1], headers, body)

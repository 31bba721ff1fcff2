"""libcurl within asyncio: many exchanges at once on one loop, each a future.

libcurl names the sockets that it waits for and the time at which it wants to be asked again; here they are watched
through one selector of the engine's own, so that the loop knows one file descriptor, however many connections there are.
"""

import asyncio
import selectors
from collections import defaultdict
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import pycurl

_SOCKET_EVENTS = {
    pycurl.POLL_IN: selectors.EVENT_READ,
    pycurl.POLL_OUT: selectors.EVENT_WRITE,
    pycurl.POLL_INOUT: selectors.EVENT_READ | selectors.EVENT_WRITE,
}
# What is ready, in libcurl's words, by the selector's.
_READY = [0, pycurl.CSELECT_IN, pycurl.CSELECT_OUT, pycurl.CSELECT_IN | pycurl.CSELECT_OUT]

# What a loop's clock may be early by.
_CLOCK_SECONDS = 0.001


class Exchange:
    """One request and what came back of it. `code` is libcurl's result: 0, or one of its E_… numbers."""

    __slots__ = ("body", "code", "done", "error", "head", "limit", "refused", "status")

    def __init__(self, done: "asyncio.Future[None]", limit: int) -> None:
        self.done = done
        self.limit = limit
        self.head: list[bytes] = []
        self.body = bytearray()
        self.refused = ""
        self.status = self.code = 0
        self.error = ""

    @property
    def is_cut(self) -> bool:
        """Whether the answer was longer than what is read of it."""
        return len(self.body) > self.limit

    def write(self, chunk: bytes) -> int:
        """Take a part of the body; anything but its length ends the exchange."""
        self.body += chunk
        return -1 if self.is_cut else len(chunk)


class Engine:
    """Performs exchanges until closed; made and used within one running loop.

    `prepare` sets what all handles have in common. Handles are kept for the next exchange of the same method, and
    connections for the next one to the same place.
    """

    def __init__(self, *, connections: int, prepare: Callable[[Any], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._prepare = prepare
        self._idle: dict[str, list[Any]] = defaultdict(list)
        self._open: dict[Any, Exchange] = {}
        self._watched: set[int] = set()
        # When libcurl wants to be asked, and the one timer that serves for it. It moves with nearly every exchange, and
        # mostly away: a timer that rings early looks again, which costs less than to set a new one each time.
        self._ask_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self._selector = selectors.DefaultSelector()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._ask_again)
        self._loop.add_reader(self._selector.fileno(), self._on_ready)

    async def perform(
        self,
        method: str,
        url: str,
        *,
        headers: Sequence[str],
        body: bytes | None,
        seconds: float,
        limit: int,
        addresses: Sequence[str] = (),
    ) -> Exchange:
        """The exchange, when it ended well or ill. `headers` are whole lines; `addresses` are entries of RESOLVE."""
        kind = method if body is None else f"{method} with body"
        handle = self._idle[kind].pop() if self._idle[kind] else self._handle(method, has_body=body is not None)
        exchange = Exchange(self._loop.create_future(), limit)
        handle.exchange = exchange
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.HTTPHEADER, headers)
        handle.setopt(pycurl.TIMEOUT_MS, max(1, int(seconds * 1000)))
        handle.setopt(pycurl.HEADERFUNCTION, exchange.head.append)
        handle.setopt(pycurl.WRITEFUNCTION, exchange.write)
        if body is not None:
            # Read, and not handed over: where a kept connection closes without an answer, libcurl would send again by
            # itself, up to five times, what the other side may have taken. It cannot rewind this.
            handle.setopt(pycurl.POSTFIELDSIZE, len(body))
            handle.setopt(pycurl.READFUNCTION, BytesIO(body).read)
        if addresses:
            handle.setopt(pycurl.RESOLVE, list(addresses))
        self._open[handle] = exchange
        self._multi.add_handle(handle)
        try:
            await exchange.done
        except asyncio.CancelledError:
            if self._open.pop(handle, None) is not None:
                self._multi.remove_handle(handle)
                handle.close()
            raise
        self._idle[kind].append(handle)
        return exchange

    def close(self) -> None:
        """End everything; what is still open is cancelled."""
        self._loop.remove_reader(self._selector.fileno())
        for call in (self._soon, self._timer):
            if call is not None:
                call.cancel()
        for handle, exchange in self._open.items():
            self._multi.remove_handle(handle)
            handle.close()
            exchange.done.cancel()
        self._open.clear()
        for handles in self._idle.values():
            for handle in handles:
                handle.close()
        self._idle.clear()
        self._multi.close()
        self._selector.close()

    def _handle(self, method: str, *, has_body: bool) -> Any:
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        if method == "GET":
            handle.setopt(pycurl.HTTPGET, 1)
        elif method == "HEAD":
            handle.setopt(pycurl.NOBODY, 1)
        else:
            handle.setopt(pycurl.POST, 1)
            handle.setopt(pycurl.CUSTOMREQUEST, method)
            if not has_body:
                handle.setopt(pycurl.POSTFIELDSIZE, 0)
        self._prepare(handle)
        return handle

    # --- what libcurl asks for; called from within its own functions, which must not be called from here --------------

    def _watch(self, what: int, descriptor: int, *_: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            if descriptor in self._watched:
                self._watched.discard(descriptor)
                self._selector.unregister(descriptor)
        elif descriptor in self._watched:
            self._selector.modify(descriptor, _SOCKET_EVENTS[what])
        else:
            self._watched.add(descriptor)
            self._selector.register(descriptor, _SOCKET_EVENTS[what])

    def _ask_again(self, milliseconds: int) -> None:
        self._ask_at = self._loop.time() + milliseconds / 1000 if milliseconds > 0 else None
        if milliseconds == 0 and self._soon is None:
            self._soon = self._loop.call_soon(self._ask)
        if self._ask_at is not None and (self._timer is None or self._timer.when() > self._ask_at):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(self._ask_at, self._on_time)

    # --- what happens -------------------------------------------------------------------------------------------------

    def _on_ready(self) -> None:
        for key, events in self._selector.select(0):
            self._multi.socket_action(key.fd, _READY[events])
        self._reap()

    def _on_time(self) -> None:
        self._timer = None
        if self._ask_at is None:
            return
        if self._ask_at > self._loop.time() + _CLOCK_SECONDS:
            self._timer = self._loop.call_at(self._ask_at, self._on_time)
        else:
            self._ask_at = None
            self._ask()

    def _ask(self) -> None:
        self._soon = None
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._reap()

    def _reap(self) -> None:
        waiting = 1
        while waiting:
            waiting, succeeded, failed = self._multi.info_read()
            for handle in succeeded:
                self._land(handle, 0, "")
            for handle, code, message in failed:
                self._land(handle, code, message)

    def _land(self, handle: Any, code: int, message: str) -> None:
        self._multi.remove_handle(handle)
        exchange = self._open.pop(handle, None)
        if exchange is not None and not exchange.done.done():
            exchange.code, exchange.error = code, message
            exchange.status = handle.getinfo(pycurl.RESPONSE_CODE)
            exchange.done.set_result(None)

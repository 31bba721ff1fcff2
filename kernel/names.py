"""The addresses of names, remembered for a while; a name whose servers are dead costs the others nothing.

The system's look-up blocks a thread until it gives up, long after whoever asked has gone. So look-ups have threads of
their own, a name has one look-up at a time that all who ask wait for, and names that were slow before queue apart. While a
new look-up hangs or fails, the last answer is used for some minutes; whoever connects checks the addresses each time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic

_FRESH_SECONDS = 10
# How long an answer serves when no newer one comes; and how long a newer one is waited for meanwhile.
_GOOD_SECONDS = 300
_PATIENCE_SECONDS = 0.5
# A look-up that takes longer has met a server that does not answer.
_SLOW_SECONDS = 2.0
_THREADS, _SLOW_THREADS = 128, 32
_KEPT = 10_000

Resolve = Callable[[str, int, Executor], Awaitable[list[str]]]


@dataclass(slots=True)
class _Name:
    found: list[str] = field(default_factory=list)
    found_at: float = -inf
    ask_at: float = -inf
    began: float = -inf
    is_slow: bool = False
    asking: asyncio.Task[list[str]] | None = None


class Names:
    """What is known of names, within one running loop. Threads are started when they are needed."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._names: dict[str, _Name] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="names")
        self._slow_threads = ThreadPoolExecutor(_SLOW_THREADS, thread_name_prefix="names-slow")

    def close(self) -> None:
        """Wait for nobody: a look-up that hangs ends by itself."""
        for threads in (self._threads, self._slow_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    async def addresses(self, host: str, port: int) -> list[str]:
        """The newest answer, or the last one while a look-up hangs or fails; without one, what the look-up raises."""
        name = self._name(host)
        last, is_good = name.found, monotonic() - name.found_at < _GOOD_SECONDS
        if name.asking is None:
            if is_good and monotonic() < name.ask_at:
                return last
            self._ask(name, host, port)
        asking = name.asking
        assert asking is not None
        patience = max(0.0, name.began + _PATIENCE_SECONDS - monotonic()) if is_good else None
        # Unlike awaiting it, this does not end the look-up, which others wait for, when the caller gives up.
        await asyncio.wait({asking}, timeout=patience)
        if is_good and (not asking.done() or asking.cancelled() or asking.exception()):
            return last
        return asking.result()

    def _name(self, host: str) -> _Name:
        if len(self._names) >= _KEPT and host not in self._names:
            self._names = {host: name for host, name in self._names.items() if name.asking is not None}
        return self._names.setdefault(host, _Name())

    def _ask(self, name: _Name, host: str, port: int) -> None:
        threads = self._slow_threads if name.is_slow else self._threads
        name.began = monotonic()
        name.asking = asyncio.ensure_future(self._resolve(host, port, threads))
        name.asking.add_done_callback(partial(_note, name))


def _note(name: _Name, asked: asyncio.Task[list[str]]) -> None:
    now = monotonic()
    name.asking = None
    name.is_slow = now - name.began > _SLOW_SECONDS
    name.ask_at = now + _FRESH_SECONDS
    if not asked.cancelled() and not asked.exception():
        name.found, name.found_at = asked.result(), now

"""How long a task works: until nothing is due, its time is over, or its worker is to stop. Asked before each claim.

A worker has a few threads for everything. A task that ends after its time and wakes itself lets the others have theirs; and
of the threads only half may be with servers of others, however many of those are slow, so that there is always one for what
needs nobody outside. What was not claimed when the worker stops is still queued for the next one; what was, is finished.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from celery import signals

from kernel import nudge

KeepGoing = Callable[[], bool]

_SECONDS: Final = 60.0
# What compose.yaml and config/processes.py begin a worker with; a worker says how many it has.
_THREADS: Final = 4

_stopping = threading.Event()


class _Places:
    """Threads that may be with servers of others; who finds none is woken when one is free."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free = 0
        self._waiting: set[str] = set()

    def set_up(self, threads: int) -> None:
        """At most half of a worker's threads, and one at least."""
        with self._lock:
            self._free = max(threads // 2, 1)

    def enter(self, task: str) -> bool:
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.add(task)
            return False

    def leave(self) -> None:
        with self._lock:
            self._free += 1
            woken, self._waiting = self._waiting, set()
        for task in woken:
            nudge.wake(task)


_places = _Places()
_places.set_up(_THREADS)


@contextmanager
def shift(task: str, *, outside: bool = False) -> Iterator[KeepGoing]:
    """Begin a task's work; what it is given says whether to take the next piece. `outside`: it talks to others' servers."""
    nudge.taken(task)
    if outside and not _places.enter(task):
        yield lambda: False
        return
    ends = time.monotonic() + _SECONDS
    try:
        yield lambda: not _stopping.is_set() and time.monotonic() < ends
    finally:
        if outside:
            _places.leave()
    if time.monotonic() >= ends:
        nudge.wake(task)


@signals.celeryd_after_setup.connect
def _employ(instance: Any, **_: Any) -> None:
    _places.set_up(int(instance.concurrency))


@signals.worker_shutting_down.connect
def stop(**_: Any) -> None:
    """Finish the present piece, take no new one."""
    _stopping.set()

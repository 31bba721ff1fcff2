"""Counts in windows of time, shared by all processes through Redis: the one mechanism behind every rate limit.

Redis being away costs precision, never work: each process then counts for itself, and asks Redis again a little later.
"""

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from zlib import crc32

import redis

from kernel import clock, nudge

logger = logging.getLogger(__name__)

# While Redis is away nobody waits for it: one question in so many seconds finds out whether it is back.
_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in which is counted. Its name holds its number, so that it ends by itself."""

    name: str
    seconds: int
    seconds_left: int


@dataclass
class _Alone:
    """What this process counts while Redis is away."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    until: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)


_alone = _Alone()


def window(key: str, *, seconds: int = 1) -> Window:
    """The present window of a key. Keys begin theirs at different times, so that not all callers return at once."""
    shift = crc32(key.encode()) % seconds
    number, passed = divmod(int(clock.now().timestamp()) + shift, seconds)
    return Window(f"rate:{key}:{number}", seconds, seconds - passed)


def add(at: Window, count: int) -> int:
    """Change the count of a window; what it is then."""
    if time.monotonic() >= _alone.until:
        try:
            client = nudge.client()
            present = int(client.incrby(at.name, count))
            if present == count:
                # Twice its length: what is given back a little late must not begin a window without an end.
                client.expire(at.name, at.seconds * 2)
            return present
        except redis.RedisError:
            _alone.until = time.monotonic() + _PAUSE_SECONDS
            logger.warning("rate limits are kept by this process alone while Redis is away")
    with _alone.lock:
        if at.name not in _alone.counts and len(_alone.counts) > 10_000:
            _alone.counts.clear()
        _alone.counts[at.name] += count
        return _alone.counts[at.name]


def begin_again() -> None:
    """Forget what was counted alone, and ask Redis at once."""
    with _alone.lock:
        _alone.until = 0.0
        _alone.counts.clear()

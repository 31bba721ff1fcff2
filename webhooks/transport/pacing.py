"""Rate limits of endpoints, in windows of one second that all dispatchers share through Redis."""

import logging
from collections import Counter
from dataclasses import dataclass

import redis

from kernel import clock, nudge

logger = logging.getLogger(__name__)

_WINDOW_SECONDS = 2
_local: Counter[str] = Counter()


@dataclass(frozen=True, slots=True)
class Grant:
    """So many requests may go out, in the window that they were taken from."""

    window: str
    count: int


def take(*, key: str, rate: int, wanted: int) -> Grant:
    """At most `wanted` requests of this second; give back what is then not used."""
    window = f"webhook-rate:{key}:{int(clock.now().timestamp())}"
    used = _add(window, wanted) - wanted
    granted = max(0, min(wanted, rate - used))
    if granted < wanted:
        _add(window, granted - wanted)
    return Grant(window, granted)


def give_back(*, grant: Grant, unused: int) -> None:
    """Return what nobody needed to the window that it came from, which may be over by now."""
    if unused:
        _add(grant.window, -unused)


def _add(window: str, count: int) -> int:
    """Change a window's count; without Redis each process keeps its own."""
    try:
        pipe = nudge.client().pipeline(transaction=False)
        pipe.incrby(window, count)
        pipe.expire(window, _WINDOW_SECONDS)
        return int(pipe.execute()[0])
    except redis.RedisError:
        logger.warning("rate limits are kept by this process alone while Redis is away")
    if window not in _local:
        _local.clear()
    _local[window] += count
    return _local[window]

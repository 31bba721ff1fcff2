"""Rate limits of endpoints, in windows of one second that all dispatchers share through Redis."""

import logging
from collections import Counter

import redis

from kernel import clock, nudge

logger = logging.getLogger(__name__)

_WINDOW_SECONDS = 2
_local: Counter[str] = Counter()


def take(*, key: str, rate: int, wanted: int) -> int:
    """How many of `wanted` requests may still go out in this second; give back what is then not used."""
    used = _add(key, wanted) - wanted
    granted = max(0, min(wanted, rate - used))
    if granted < wanted:
        _add(key, granted - wanted)
    return granted


def give_back(*, key: str, count: int) -> None:
    """Return what `take` granted and nobody needed."""
    if count:
        _add(key, -count)


def _add(key: str, count: int) -> int:
    """Change this second's count; without Redis each process keeps its own."""
    name = f"webhook-rate:{key}:{int(clock.now().timestamp())}"
    try:
        pipe = nudge.client().pipeline(transaction=False)
        pipe.incrby(name, count)
        pipe.expire(name, _WINDOW_SECONDS)
        return int(pipe.execute()[0])
    except redis.RedisError:
        logger.warning("rate limits are kept by this process alone while Redis is away")
    if name not in _local:
        _local.clear()
    _local[name] += count
    return _local[name]

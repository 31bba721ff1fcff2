"""Wake-ups: tell a worker that rows are waiting. For speed only; the periodic sweep is the truth (decision X-25).

A flag in Redis folds many wake-ups into one task. The task lowers the flag before it looks for rows, so whatever
commits later raises it again and nothing is missed. Redis being away costs speed, never work.
"""

import logging
import os
import threading
import time
from dataclasses import dataclass, field
from functools import cache

import redis
from celery import current_app
from django.conf import settings

logger = logging.getLogger(__name__)

_FLAG_SECONDS = 5
_GAP_SECONDS = 0.05


@dataclass
class _Calls:
    """When each task was last called for, and which have a late call on its way."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    last: dict[str, float] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)


_calls = _Calls()


def _forget() -> None:
    """In a forked process the timers of its parent do not run."""
    global _calls  # noqa: PLW0603 - a lock that was held elsewhere cannot be opened, only replaced
    _calls = _Calls()


os.register_at_fork(after_in_child=_forget)


@cache
def client() -> "redis.Redis":
    """The process's connection pool to Redis; short time-outs, since nobody may wait for a wake-up."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


def wake(task: str) -> None:
    """Have `task` run soon, at most once for all that call this meanwhile.

    A process asks Redis at once, and then at most every `_GAP_SECONDS`: a burst of commits costs one late call.
    """
    with _calls.lock:
        if task in _calls.late:
            return
        wait = _calls.last.get(task, 0.0) + _GAP_SECONDS - time.monotonic()
        if wait > 0:
            _calls.late.add(task)
        else:
            _calls.last[task] = time.monotonic()
    if wait > 0:
        timer = threading.Timer(wait, _call_late, [task])
        timer.daemon = True
        timer.start()
    else:
        _call(task)


def _call_late(task: str) -> None:
    with _calls.lock:
        _calls.late.discard(task)
        _calls.last[task] = time.monotonic()
    _call(task)


def _call(task: str) -> None:
    try:
        if client().set(f"nudge:{task}", b"1", nx=True, ex=_FLAG_SECONDS):
            current_app.send_task(task)
    except Exception:  # noqa: BLE001 - every failure of the broker costs the same: the wake-up
        # Any broker failure: the sweep of the beat schedule picks the rows up.
        logger.warning("no wake-up sent; the periodic sweep will find the work", extra={"task": task})


def taken(task: str) -> None:
    """Called by the task as it begins, before it looks for rows."""
    try:
        client().delete(f"nudge:{task}")
    except redis.RedisError:
        logger.warning("the wake-up flag could not be lowered; it expires by itself", extra={"task": task})

"""Wake-ups: tell a worker that rows are waiting. For speed only; the periodic sweep is the truth (decision X-25).

A flag in Redis folds many wake-ups into one task. The task lowers the flag before it looks for rows, so whatever
commits later raises it again and nothing is missed. Redis being away costs speed, never work.
"""

import logging
from functools import cache

import redis
from celery import current_app
from django.conf import settings

logger = logging.getLogger(__name__)

_FLAG_SECONDS = 5


@cache
def client() -> "redis.Redis":
    """The process's connection pool to Redis; short time-outs, since nobody may wait for a wake-up."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


def wake(task: str) -> None:
    """Have `task` run soon, at most once for all that call this meanwhile."""
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

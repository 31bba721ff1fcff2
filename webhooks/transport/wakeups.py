"""Wake the dispatcher: for speed only. It polls as well, so a lost ring, or no Redis at all, costs a poll interval."""

import asyncio
import logging
from collections.abc import Callable

import redis
import redis.asyncio
from django.conf import settings

from kernel import nudge

logger = logging.getLogger(__name__)

CHANNEL = "webhooks:due"


def ring() -> None:
    """Say that deliveries are due; to be called after their commit."""
    try:
        nudge.client().publish(CHANNEL, b"")
    except redis.RedisError:
        logger.warning("the dispatcher was not woken; its next poll finds the deliveries")


async def listen(heard: Callable[[], None]) -> None:
    """Call `heard` at each ring until cancelled; comes back by itself when Redis was away."""
    is_away = False
    while True:
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
        try:
            async with client.pubsub() as channel:
                await channel.subscribe(CHANNEL)
                is_away = False
                async for _ in channel.listen():
                    heard()
        except (redis.RedisError, OSError):
            if not is_away:
                logger.warning("no wake-ups from Redis; polling until it is back")
            is_away = True
        finally:
            await client.aclose()
        await asyncio.sleep(settings.WEBHOOK_POLL_SECONDS)

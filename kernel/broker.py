"""Celery's transport over Redis, made to outlive a lost connection.

A task that ends after its connection was lost still acknowledges its message over it, and Celery gives back what was
not acknowledged when it closes that connection. By then the connection knows no address, and kombu (5.7) stumbles over
that with an error that nobody expects: the worker ends, with all that it was doing. Here the same attempt fails as what
it is, a lost connection, which Celery knows how to survive.
"""

from typing import Any

from kombu.transport import redis as kombu_redis
from redis.exceptions import ConnectionError as RedisConnectionError


class Channel(kombu_redis.Channel):
    """A channel that says so when the connection below it is gone."""

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection.client is None:
            raise RedisConnectionError("The connection to Redis is closed.")
        parameters: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]
        return parameters


class Transport(kombu_redis.Transport):
    """Chosen by CELERY_BROKER_TRANSPORT, whatever the scheme of REDIS_URL."""

    Channel = Channel

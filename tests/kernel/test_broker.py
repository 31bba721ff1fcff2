"""A worker outlives the loss of its broker, whatever it was doing: what fails then fails as a lost connection."""

import uuid

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from config.celery import app
from kernel.broker import Transport


@pytest.fixture
def taken():
    """A message that was taken from its queue and is not acknowledged yet; its connection is lost meanwhile."""
    connection = app.connection_for_read()
    queue = connection.SimpleQueue(f"broker-{uuid.uuid4().hex}")
    queue.put({"wake": "up"})
    message = queue.get(timeout=5)
    yield message
    connection.transport.client = connection
    queue.queue.delete()
    connection.release()


def test_the_application_uses_the_transport():
    with app.connection_for_read() as connection:
        assert isinstance(connection.transport, Transport)


@pytest.mark.parametrize(
    "end",
    [
        lambda message: message.ack(),
        lambda message: message.reject(),
        lambda message: message.requeue(),
        lambda message: message.channel.close(),
    ],
    ids=["acknowledged", "rejected", "requeued", "closed"],
)
def test_the_end_of_a_task_whose_connection_is_lost_is_a_lost_connection(taken, end):
    # So the consumer leaves a channel whose closing was broken off because Redis did not answer.
    taken.channel._disconnect_pools()
    taken.channel.connection.client = None
    with pytest.raises(RedisConnectionError, match="closed"):
        end(taken)

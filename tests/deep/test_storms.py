"""Acknowledged is safe: PostgreSQL and Redis are killed under load, and every mail that got its 200 is there once.

And work goes on: a worker whose connections to Redis are reset takes the next mail within seconds (I4).
"""

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from tests.config.harness import eventually
from tests.deep.estate import Estate, estate, filed, load, unsettled

pytestmark = [pytest.mark.deep, pytest.mark.long, pytest.mark.timeout(900), pytest.mark.xdist_group("storm")]


@pytest.fixture
def folder():
    path = Path(tempfile.mkdtemp(prefix="storm-"))
    path.chmod(0o755)
    yield path
    # A server that is told to go writes there until it is gone.
    assert eventually(lambda: _is_removed(path), seconds=30)


def _is_removed(path: Path) -> bool:
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def assert_each_once(place: Estate) -> None:
    assert place.ended() == []
    with place.owner() as connection:
        rows = connection.execute(
            "SELECT e.message_id, count(*), count(n.id) FROM inbox_email e LEFT JOIN inbox_entry n ON n.email_id = e.id"
            " GROUP BY 1"
        ).fetchall()
        received = connection.execute(
            "SELECT count(*), count(DISTINCT payload->>'email_id') FROM kernel_outboxevent WHERE slug = 'email.received'"
        ).fetchone()
        threads = connection.execute(
            "SELECT count(*) FROM inbox_thread t WHERE entry_count <>"
            " (SELECT count(*) FROM inbox_entry e WHERE e.thread_id = t.id)"
        ).fetchone()[0]
    found = {message_id: (emails, entries) for message_id, emails, entries in rows}
    assert set(place.acknowledged) - set(found) == set(), "acknowledged mail was lost"
    assert set(found.values()) == {(1, 1)}, "mail was doubled or never filed"
    assert received == (len(found), len(found))
    assert threads == 0


def test_postgres_killed_25_times_loses_nothing_acknowledged(folder, cases):
    with estate(folder) as place:
        threads = load(place, prefix="pg", count=5_000)
        kills = 0
        while kills < 25 or any(thread.is_alive() for thread in threads):
            time.sleep(1.5)
            place.kill_postgres()
            kills += 1
        assert unsettled(place, seconds=60) == {}
        assert_each_once(place)
        assert len(place.acknowledged) >= 5_000
        cases("A3", kills)
        print(f"\nPostgreSQL: {kills} kills, {len(place.acknowledged)} acknowledged, {place.refused} refused, 0 lost")


def test_redis_killed_and_emptied_loses_nothing(folder, cases):
    with estate(folder) as place:
        for fault in range(15):
            threads = load(place, prefix=f"redis{fault}", count=100, threads=4)
            time.sleep(0.2)
            if fault % 3 == 2:
                import redis

                redis.Redis.from_url(place.valkey.url).flushall()
            else:
                place.valkey.kill()
                time.sleep(0.3)
                place.valkey.start()
            for thread in threads:
                thread.join()
        assert place.ended() == [], "lost Redis, and itself with it"
        assert unsettled(place, seconds=30) == {}, "the sweep did not re-drive what Redis forgot"
        assert_each_once(place)
        cases("A4", 15)
        print(f"\nRedis: 15 faults, {len(place.acknowledged)} acknowledged, 0 lost, 0 doubled")


RESETS, RESUMES_WITHIN = 50, 10.0


def test_fifty_resets_of_every_connection_to_redis_stop_nobody_for_long(folder, cases):
    """The worker's consumer, the scheduler and the web server's wake-ups all lose their connections, again and again."""
    with estate(folder) as place:
        _post_one(place, "before")
        assert filed(place, 1, seconds=30) < 30
        waits: list[float] = []
        for number in range(RESETS):
            # A mail is filed as soon as the worker is back; the others come in their own time.
            assert eventually(lambda: place.wire.connections >= 2, seconds=RESUMES_WITHIN), "nobody came back"
            place.wire.reset()
            _post_one(place, f"reset{number}")
            waits.append(filed(place, number + 2, seconds=RESUMES_WITHIN))
            assert waits[-1] <= RESUMES_WITHIN, f"nothing was consumed after reset {number}"
        assert place.refused == 0, "a mail was refused because Redis was away"
        assert_each_once(place)
        cases("I4", RESETS)
        print(f"\nRedis: {RESETS} resets of all connections, work went on within {max(waits):.1f} s each time")


def test_a_busy_worker_outlives_thirty_losses_of_redis(folder):
    """Redis is killed while tasks run, whose ends are then to be said over a connection that is no more."""
    with estate(folder) as place, _wake_ups(place):
        for number in range(30):
            time.sleep(random.uniform(0.2, 1.5))
            place.valkey.kill()
            time.sleep(random.choice([0.0, 0.3, 1.0]))
            place.valkey.start()
            assert place.ended() == [], f"ended by loss {number}"
        _post_one(place, "after")
        assert filed(place, 1, seconds=30) < 30
        assert_each_once(place)


@contextmanager
def _wake_ups(place: Estate) -> Iterator[None]:
    """A stream of tasks that begin one after the other, each looks for rows and finds none."""
    broker = Celery(broker=place.valkey.url, set_as_current=False)
    broker.conf.update(task_ignore_result=True, task_publish_retry=False)
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(random.choice([0.0, 0.02, 0.05, 0.2])):
            with suppress(OperationalError):
                broker.send_task(random.choice(["kernel.tasks.drain_outbox", "inbox.tasks.process_messages"]))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _post_one(place: Estate, prefix: str) -> None:
    (thread,) = load(place, prefix=prefix, count=1, threads=1)
    thread.join()

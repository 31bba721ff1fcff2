"""The outbox under kills (I1, I5): processes die at any moment, facts do not."""

import os
import random
import signal
import time
from contextlib import suppress
from uuid import UUID, uuid4

from django.conf import settings as live
from django.db import connection, transaction

from kernel import outbox
from kernel.transactions import unit_of_work
from tests.kernel.conftest import fact, note, rows, stored

WRITERS, FACTS, KILLS = 8, 150, 20


class TakenBack(Exception):
    pass


def _write_one(aggregate: UUID, dice: random.Random) -> None:
    """One business transaction: a row, a fact, a pause; every sixth is rolled back in one of three ways."""
    way = dice.randrange(18)
    with suppress(TakenBack), transaction.atomic():
        with unit_of_work(), connection.cursor() as cursor:
            # The lock that a service holds on its aggregate, so that facts commit in the order of their numbers.
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [aggregate.int % 2**62])
            cursor.execute("SELECT nextval('test_number')")
            number = cursor.fetchone()[0]
            cursor.execute("INSERT INTO test_written VALUES (%s, %s)", [aggregate, number])
            outbox.emit(fact(aggregate, number))
            time.sleep(dice.random() * 0.008)
            if way == 0:
                raise TakenBack  # before the facts are written
            if way == 1:
                with suppress(TakenBack), unit_of_work():
                    outbox.emit(fact(aggregate, -1))
                    raise TakenBack  # only a savepoint
        if way == 2:
            raise TakenBack  # after they are written


def _writer(seed: int, aggregates: list[UUID]) -> None:
    dice = random.Random(seed)
    for _ in range(FACTS):
        _write_one(dice.choice(aggregates), dice)
        time.sleep(dice.random() * 0.004)


def _drain_for_ever() -> None:
    while True:
        if not outbox.drain(limit=40):
            time.sleep(0.01)


def test_nothing_is_lost_doubled_invented_or_reordered_by_twenty_kills(effects, children, consumers, settings):
    settings.OUTBOX_LEASE_SECONDS, settings.OUTBOX_MAX_CLAIMS = 0.4, 15

    @consumers(name="first")
    def first(events):
        note("first", events[0])
        time.sleep(0.001)

    @consumers(name="second", batch=True)
    def second(events):
        for event in events:
            note("second", event)

    dice = random.Random(7)
    aggregates = [uuid4() for _ in range(12)]
    writers = [children.start(lambda seed=seed: _writer(seed, aggregates)) for seed in range(WRITERS)]
    drains = [children.start(_drain_for_ever) for _ in range(3)]
    for _ in range(KILLS):
        time.sleep(0.05 + dice.random() * 0.1)
        victim = drains.pop(dice.randrange(3))
        drains.append(children.start(children.kill(victim)))
    children.wait(writers, 60)
    end = time.monotonic() + 40
    while rows("SELECT count(*) FROM test_written") != rows(
        "SELECT count(DISTINCT number) FROM test_effect WHERE consumer = 'first'"
    ) or stored(published_at=None):
        assert time.monotonic() < end, "some facts were not delivered"
        time.sleep(0.05)

    written = rows("SELECT aggregate, number FROM test_written ORDER BY number")
    assert WRITERS * FACTS * 0.75 < len(written) < WRITERS * FACTS
    assert {event.parked_at for event in stored()} == {None}
    for consumer in ("first", "second"):
        done = rows(f"SELECT aggregate, number FROM test_effect WHERE consumer = '{consumer}' ORDER BY n")
        assert sorted(done, key=lambda row: row[1]) == written  # each once; none of what was rolled back
        for aggregate in aggregates:
            numbers = [number for name, number in done if name == aggregate]
            assert numbers == sorted(numbers)


def test_a_fact_that_kills_its_worker_is_parked_and_the_others_flow(effects, children, consumers, settings):
    settings.OUTBOX_LEASE_SECONDS = 0.2
    poisoned = uuid4()

    @consumers(name="one")
    def one(events):
        if events[0].workspace_id == poisoned:
            os.kill(os.getpid(), signal.SIGKILL)
        note("one", events[0])

    for number in range(30):
        with unit_of_work():
            outbox.emit(fact(poisoned if number == 11 else uuid4(), number))
    deaths = 0
    children.start(_drain_for_ever)
    end = time.monotonic() + 20
    while len(rows("SELECT 1 FROM test_effect")) < 29 or not stored(parked_at__isnull=False):
        assert time.monotonic() < end, "the others did not flow, or the killer was not parked"
        if children.died():
            deaths += 1
            children.start(_drain_for_ever)
        time.sleep(0.02)

    (parked,) = stored(parked_at__isnull=False)
    assert parked.workspace_id == poisoned
    assert parked.last_error == "its worker died at each try"
    assert 1 <= deaths <= live.OUTBOX_MAX_CLAIMS
    assert rows("SELECT count(*), count(DISTINCT event_id) FROM test_effect") == [(29, 29)]

"""The outbox: once per consumer, in order, never lost; one bad consumer or fact hurts nobody else."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction

from audit.models import AuditEvent
from audit.services import record
from kernel import claims, clock, context, outbox
from kernel.context import Actor
from kernel.models import ConsumerReceipt
from kernel.transactions import NoTransaction, in_all_workspaces, in_workspace, unit_of_work
from tests.kernel.conftest import drain_all, emit, fact, make_due, stored


def test_emit_refuses_to_run_outside_a_unit_of_work(db):
    with pytest.raises(NoTransaction):
        outbox.emit(fact(uuid4()))


def test_a_plain_transaction_is_no_unit_of_work(db):
    with transaction.atomic(), pytest.raises(NoTransaction):
        outbox.emit(fact(uuid4()))


def test_each_consumer_is_given_each_fact_once_in_its_workspace(db, consumers):
    house, seen = uuid4(), []

    @consumers(name="one")
    def one(events):
        seen.append(("one", events[0].payload["ref"], context.scope.get().workspace_id))

    @consumers("workspace.provisioned", name="two")
    def two(events):
        seen.append(("two", events[0].payload["ref"], context.scope.get().workspace_id))

    @consumers("something.else", name="deaf")
    def deaf(events):
        seen.append("never")

    emit(house, 1, 2)
    assert outbox.drain() == 2
    assert outbox.drain() == 0
    assert seen == [("one", "1", house), ("one", "2", house), ("two", "1", house), ("two", "2", house)]


def test_the_effect_carries_actor_and_request_of_the_cause(db, consumers):
    seen = []

    @consumers(name="one")
    def one(events):
        seen.append((context.actor.get(), context.request_id.get()))

    with context.acting_as(Actor("machine_key", "7", "shop"), request="request-0001"):
        emit(uuid4(), 1)
    drain_all()
    assert seen == [(Actor("machine_key", "7", "shop"), "request-0001")]


def test_a_batch_of_several_causes_is_nobodys(db, consumers):
    seen = []

    @consumers(name="many", batch=True)
    def many(events):
        seen.append((len(events), context.actor.get().kind, context.request_id.get()))

    for name in ("ada", "bob"):
        with context.acting_as(Actor("user", name), request=f"request-{name}"):
            emit(uuid4(), 1)
    drain_all()
    assert seen == [(2, "system", "")]


def test_a_rolled_back_fact_is_never_seen(db, consumers):
    house = uuid4()
    with pytest.raises(ZeroDivisionError), unit_of_work():
        outbox.emit(fact(house))
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        emit(house, 1)  # flushed, and then taken back with everything around it
        raise ZeroDivisionError
    with unit_of_work():
        outbox.emit(fact(house, 7))
        with pytest.raises(ZeroDivisionError), unit_of_work():
            outbox.emit(fact(house, 8))
            raise ZeroDivisionError
        outbox.emit(fact(house, 9))
    assert [event.payload["ref"] for event in stored()] == ["7", "9"]


def test_one_bad_consumer_does_not_stop_the_others(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS = 0
    good, bad = [], []

    @consumers(name="bad")
    def broken(events):
        bad.append(events[0].payload["ref"])
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    @consumers(name="good")
    def fine(events):
        good.append(events[0].payload["ref"])

    emit(uuid4(), 1)
    emit(uuid4(), 2)
    assert outbox.drain() == 2
    assert outbox.drain() == 1  # the first retry, alone
    make_due()
    drain_all()
    assert sorted(good) == ["1", "2"]
    assert len(bad) > 2
    assert {event.published_at for event in stored()} == {None}


def test_a_failure_holds_back_its_aggregate_only(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS = 3600
    calm, stuck = uuid4(), uuid4()
    seen, healed = [], []

    @consumers(name="one")
    def one(events):
        if events[0].workspace_id == stuck and events[0].payload["ref"] == "1" and not healed:
            raise ValueError("not yet")
        seen.append((events[0].workspace_id, events[0].payload["ref"]))

    emit(stuck, 1, 2, 3)
    emit(calm, 1, 2, 3)
    drain_all()
    assert seen == [(calm, "1"), (calm, "2"), (calm, "3")]
    first, *rest = stored(workspace_id=stuck)
    assert first.last_error == "one: ValueError: not yet"
    assert {event.last_error for event in rest} == {"waits for an earlier fact of the same aggregate"}

    emit(stuck, 4)
    drain_all()
    assert seen[3:] == []  # a later fact does not overtake
    healed.append(True)
    make_due()
    drain_all()
    assert seen[3:] == [(stuck, "1"), (stuck, "2"), (stuck, "3"), (stuck, "4")]


def test_failures_are_tried_again_ever_later_then_parked_and_redelivered(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS, settings.OUTBOX_BACKOFF_MAX_SECONDS = 2, 9
    settings.OUTBOX_MAX_ATTEMPTS = 5
    house, broken, seen = uuid4(), [True], []

    @consumers(name="one")
    def one(events):
        if broken:
            raise ValueError("broken \x00")
        seen.append(events[0].payload["ref"])

    emit(house, 1)
    delays = []
    for attempt in range(1, 6):
        before = clock.now()
        assert outbox.drain() == 1
        (event,) = stored()
        assert event.attempts == attempt
        delays.append(round((event.available_at - before).total_seconds()))
        assert (event.parked_at is not None) == (attempt == 5)
        make_due()
    assert delays == [2, 4, 8, 9, 9]
    assert "ValueError: broken" in event.last_error

    broken.clear()
    make_due()
    drain_all()
    assert seen == []  # parked: it waits for a person
    emit(house, 2)
    drain_all()
    assert seen == ["2"]  # and does not hold its aggregate back for ever
    assert outbox.redeliver(ids=[event.id]) == 1
    assert outbox.redeliver(ids=[event.id]) == 0
    drain_all()
    assert seen == ["2", "1"]


def test_any_error_text_can_be_stored():
    assert outbox._storable("a\x00b \ud800 " + "x" * 900) == "a\ufffdb ? " + "x" * 494


def test_a_batch_consumer_gets_many_and_falls_back_to_single_facts(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS = 3600
    batches = []

    @consumers(name="many", batch=True)
    def many(events):
        numbers = [event.payload["ref"] for event in events]
        batches.append(numbers)
        if "13" in numbers:
            raise ValueError("unlucky")

    for number in (11, 12, 13, 14):
        emit(uuid4(), number)
    drain_all()
    assert batches == [["11", "12", "13", "14"], ["11"], ["12"], ["13"], ["14"]]
    assert [event.payload["ref"] for event in stored(published_at=None)] == ["13"]
    emit(uuid4(), 15)
    emit(uuid4(), 16)
    drain_all()
    assert batches[5:] == [["15", "16"]]


def test_a_broken_reference_is_its_consumers_fault_not_the_batchs(db, consumers, settings):
    """Django's foreign keys are checked at commit; there they would take every other effect of the batch with them."""
    settings.OUTBOX_BACKOFF_SECONDS = 3600
    seen = []

    @consumers(name="a-bad")
    def bad(events):
        if events[0].payload["ref"] == "1":
            with connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO tenancy_role (id, workspace_id, name, is_system) VALUES (%s, %s, 'x', false)",
                    [uuid4(), events[0].workspace_id],
                )

    @consumers(name="b-good")
    def good(events):
        seen.append(events[0].payload["ref"])

    emit(uuid4(), 1)
    emit(uuid4(), 2)
    assert outbox.drain() == 2
    assert seen == ["1", "2"]
    assert [(event.payload["ref"], event.published_at is None) for event in stored()] == [("1", True), ("2", False)]
    assert "IntegrityError" in stored()[0].last_error


def test_a_failed_consumer_leaves_neither_effect_nor_fact_nor_audit(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS = 3600
    house = uuid4()

    @consumers("workspace.provisioned", name="one")
    def one(events):
        outbox.emit(fact(house, 99))
        record(workspace_id=house, action="test.act", resource_kind="thing", resource_id=1)
        raise ValueError("after everything")

    emit(house, 1)
    outbox.drain()
    assert [event.payload["ref"] for event in stored()] == ["1"]
    with in_all_workspaces("a test looks at everything"):
        assert not AuditEvent.objects.exists()
        assert not ConsumerReceipt.objects.exists()


def test_a_consumer_may_emit_and_its_facts_are_delivered_too(db, consumers):
    house, seen = uuid4(), []

    @consumers(name="one")
    def one(events):
        number = int(events[0].payload["ref"])
        seen.append(number)
        if number < 3:
            outbox.emit(fact(house, number + 1))

    emit(house, 1)
    drain_all()
    assert seen == [1, 2, 3]


def test_a_claim_that_another_drain_took_over_is_not_delivered(db, consumers, settings):
    settings.OUTBOX_LEASE_SECONDS = 0
    seen = []

    @consumers(name="one")
    def one(events):
        seen.append(events[0].payload["ref"])

    emit(uuid4(), 1)
    ((stale,), _) = claims.fresh(limit=10)
    assert len(stale.events) == 1
    assert outbox.drain() == 1  # the lease has ended: taken over, alone
    assert seen == ["1"]
    outbox._deliver_claimed(stale)
    assert seen == ["1"]


def test_facts_do_not_overtake_one_that_another_drain_has_taken_over(db, consumers, settings):
    """A batch whose lease ran out is not its drain's any more, however much of it others have taken up."""
    settings.OUTBOX_LEASE_SECONDS = 0
    seen = []

    @consumers(name="one")
    def one(events):
        seen.append((events[0].workspace_id, events[0].payload["ref"]))

    house, other = uuid4(), uuid4()
    emit(house, 1, 2, 3)
    emit(other, 1)
    ((late,), _) = claims.fresh(limit=10)
    assert len(late.events) == 4
    claims.fresh(limit=10)  # whose lease has ended is seen with the next claim
    (taken_over,) = claims.suspect()
    assert [event.payload["ref"] for event in taken_over.events] == ["1"]
    outbox._deliver_claimed(late)
    assert seen == []
    assert [event.claims for event in stored()] == [1, 1, 1, 1]  # suspects, to be tried one by one
    outbox._deliver_claimed(taken_over)
    drain_all()
    assert [ref for owner, ref in seen if owner == house] == ["1", "2", "3"]
    assert seen.count((other, "1")) == 1


def test_a_fact_whose_worker_is_late_but_alive_is_not_parked(db, consumers, settings):
    settings.OUTBOX_LEASE_SECONDS, settings.OUTBOX_MAX_CLAIMS = 0, 1
    seen = []

    @consumers(name="one")
    def one(events):
        assert outbox_of_another_process() == 0  # neither waits for us nor gives up on us
        seen.append(events[0].payload["ref"])

    def outbox_of_another_process() -> int:
        taken: list[int] = []

        def drain() -> None:
            taken.append(outbox.drain())
            connections.close_all()

        thread = threading.Thread(target=drain)
        thread.start()
        thread.join(10)
        return taken[0]

    emit(uuid4(), 1)
    drain_all()
    assert seen == ["1"]
    assert [event.parked_at for event in stored()] == [None]


def test_published_facts_are_pruned_with_their_receipts_and_waiting_ones_stay(db, consumers, settings):
    settings.OUTBOX_BACKOFF_SECONDS = 3600

    @consumers(name="one")
    def one(events):
        if events[0].payload["ref"] == "2":
            raise ValueError

    emit(uuid4(), 1)
    emit(uuid4(), 2)
    drain_all()
    assert outbox.prune(older_than=timedelta(hours=1)) == 0
    assert outbox.prune(older_than=timedelta(seconds=-1)) == 1
    assert [event.payload["ref"] for event in stored()] == ["2"]
    with in_all_workspaces("a test looks at everything"):
        assert ConsumerReceipt.objects.count() == 0


def test_redelivery_sees_facts_of_every_workspace_without_a_scope(db, consumers):
    emit(uuid4(), 1)
    (event,) = stored()
    with in_all_workspaces("a test parks by hand"):
        type(event).objects.update(parked_at=clock.now())
    assert outbox.redeliver(ids=[event.id]) == 1
    with in_workspace(uuid4()):
        assert outbox.redeliver(ids=[event.id]) == 0  # it is not parked any more

"""Only the holder of the newest lease writes; one intent is executed once, however many try."""

import threading
from dataclasses import replace

import pytest
from django.db import connections

from agents import tools
from agents.models import Execution, ExecutionStep
from agents.services import acting, executing, leasing, running, stepping
from agents.services.leasing import LeaseLost, Step
from agents.types import Outcome, StepKind
from inbox.models import OutboundMessage
from inbox.services import progress
from inbox.types import EmailState
from kernel import clock
from kernel.transactions import in_workspace
from tests.agents.factories import case, drain, make_due, office, play, receive, receive_many, work


def _late(place):
    """A worker that holds a lease which another one has taken over."""
    receive(place)
    old = leasing.claim()
    make_due()
    new = leasing.claim()
    assert old is not None
    assert new is not None
    assert new.token == old.token + 1
    return old, new


def _record(lease):
    with in_workspace(lease.workspace_id):
        leasing.record(lease, Step(position=1, kind=StepKind.NOTE, title="late", started_at=clock.now()))


def _hold(lease):
    with in_workspace(lease.workspace_id):
        leasing.hold(lease)


def _again(lease):
    leasing.again(lease, seconds=0, code="x", reason="x")


def _give_up(lease):
    stepping.give_up(running.load(lease), Outcome.FAULT, "late")


def _execute(lease):
    run = running.load(lease)
    acting.execute(run, run.run_id)


@pytest.mark.parametrize("write", [_record, _hold, _again, leasing.release, _give_up, _execute])
def test_a_late_worker_writes_nothing(db, write):
    place = office()
    old, new = _late(place)
    for _ in range(20):
        with pytest.raises(LeaseLost):
            write(old)
    with in_workspace(place.id):
        row = Execution.objects.get()
        assert not ExecutionStep.objects.exists()
    assert (row.status, row.lease_token) == ("running", new.token)


def test_a_late_worker_does_not_prolong_the_new_lease(db):
    place = office()
    old, _ = _late(place)
    with in_workspace(place.id):
        before = Execution.objects.get().due_at
    with pytest.raises(LeaseLost):
        _record(old)
    with in_workspace(place.id):
        assert Execution.objects.get().due_at == before


def test_a_late_worker_that_goes_on_is_stopped_at_its_next_write(db):
    place = office()
    calls = []
    play(lambda request: calls.append(request) or _slow(place))
    email = receive(place)
    lease = leasing.claim()
    executing.work(lease)
    assert len(calls) == 1
    assert case(email).execution.lease_token == lease.token + 1
    assert [step.kind for step in case(email).steps] == ["context", "knowledge"]
    play()
    make_due()
    work()
    assert len(case(email).replies) == 1


def _slow(place):
    """While this model thinks, the lease ends and another worker begins."""
    from tests.agents.factories import proposal

    make_due()
    assert leasing.claim() is not None
    return proposal(answer="too late")


def test_many_workers_share_the_queue_without_doing_a_run_twice(db, settings):
    settings.RUN_LEASE_SECONDS = 60
    place = office()
    play()
    emails = receive_many(place, 40)

    def worker():
        try:
            executing.run_due()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with in_workspace(place.id):
        assert OutboundMessage.objects.count() == len(emails)
        assert ExecutionStep.objects.filter(kind="model").count() == len(emails)
        assert set(Execution.objects.values_list("lease_token", flat=True)) == {1}


def _one_intent_many_executors(rounds: int, workers: int = 16) -> None:
    place = office()
    play()
    receive_many(place, rounds)
    runs = []
    for _ in range(rounds):
        lease = leasing.claim()
        run = running.load(lease)
        while run.steps[-1].kind != StepKind.PLAN if run.steps else True:
            stepping.advance(run)
        runs.append((run, acting.intend(run, _plan(run))))
    barrier = threading.Barrier(workers)
    queued = []
    calls = []

    def execute():
        try:
            for run, intent in runs:
                barrier.wait(timeout=60)
                try:
                    if acting.execute(replace(run), intent):
                        queued.append(intent)
                except LeaseLost:
                    calls.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=execute) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(queued) == sorted(intent for _, intent in runs)
    assert len(calls) == rounds * (workers - 1)
    with in_workspace(place.id):
        assert OutboundMessage.objects.count() == rounds
    drain()


def _plan(run):
    from agents.services import planning

    return planning.planned(run.steps)


def test_one_intent_and_sixteen_executors_make_one_reply(db, settings):
    settings.RUN_LEASE_SECONDS = 120
    _one_intent_many_executors(30)


@pytest.mark.deep
def test_two_hundred_intents_and_sixteen_executors_make_one_reply_each(db, settings):
    settings.RUN_LEASE_SECONDS = 600
    _one_intent_many_executors(200)


def test_an_intent_of_another_run_for_the_same_mail_stops_this_one(db):
    from agents.models import ActionIntent, AgentRun

    place = office()
    play()
    email = receive(place)
    work()
    first = case(email)
    with in_workspace(place.id):
        AgentRun.objects.filter(id=first.run.id).update(is_live=False)
        second = Execution.objects.create(
            workspace_id=place.id,
            agent=place.agent,
            version_id=first.execution.version_id,
            instruction="again",
            instruction_hash=b"x" * 32,
        )
        AgentRun.objects.create(
            workspace_id=place.id, email=email, agent=place.agent, version_id=second.version_id, execution=second
        )
        for state in (EmailState.THREADED, EmailState.QUEUED):
            assert progress.move(email_id=email.id, to=state)
    work()
    with in_workspace(place.id):
        second.refresh_from_db()
        assert (second.status, second.outcome) == ("needs_human", "blocked")
        assert ActionIntent.objects.count() == 1
        assert OutboundMessage.objects.count() == 1


def test_no_transaction_is_open_while_the_model_is_asked(db):
    from django.db import connection

    place = office()
    open_ones = []
    play(lambda _request: open_ones.append(connection.in_atomic_block) or _answer())
    receive(place)
    work()
    assert open_ones == [False]


def _answer():
    from tests.agents.factories import ANSWER, proposal

    return proposal(answer=ANSWER)


def test_the_registry_refuses_what_it_does_not_know():
    with pytest.raises(tools.UnknownTool):
        tools.get("shell.run")
    for arguments in (
        {},
        {"email_id": "x", "text": "hello"},
        {"email_id": "2275bb6f-77dd-40c5-83d9-34c309fb4b54", "text": ""},
        {"email_id": "2275bb6f-77dd-40c5-83d9-34c309fb4b54", "text": "hello", "to": "evil@evil.test"},
        {"email_id": "2275bb6f-77dd-40c5-83d9-34c309fb4b54", "text": 7},
    ):
        with pytest.raises(tools.BadArguments):
            tools.check(tools.REPLY, arguments)

"""Workers that die at every named point: no run is lost, no mail gets two replies, each recorded call counts once."""

import os
import signal
import time
from pathlib import Path

import orjson
import pytest

from agents import tasks
from agents.models import ActionIntent, AgentRun, Execution, ExecutionStep
from agents.services import approving, executing
from agents.types import LIVE
from inbox.models import OutboundMessage
from inbox.services import sending
from kernel import outbox, shifts
from kernel.transactions import in_workspace
from tests.agents import forking
from tests.agents.factories import ANSWER, PERSON, case, drain, make_due, office, play, receive_many, send_all, work
from tests.world.smtp import Script, ScriptedServer

IN_THE_WORKER = [
    "run.claimed",
    "run.context_built",
    "run.model_called",
    "run.model_answered",
    "run.plan_stored",
    "run.intent_stored",
    "run.approval_granted",
    "run.effect_queued",
    "run.outbox_written",
]


@pytest.fixture
def script(tmp_path: Path, monkeypatch):
    """A script in a file, and the ledger of the calls that were made."""
    path, ledger = tmp_path / "script.json", tmp_path / "calls"
    path.write_bytes(orjson.dumps([{"answer": ANSWER, "input_tokens": 100, "output_tokens": 20, "cost_micros": 50}]))
    monkeypatch.setenv("AI_SCRIPT", str(path))
    monkeypatch.setenv("AI_SCRIPT_LEDGER", str(ledger))
    return ledger


@pytest.fixture
def post(settings):
    """A real mail server on this machine; what it took is the only trusted witness of "sent once"."""
    script = Script()
    with ScriptedServer(script) as server:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", server.port
        settings.MAIL_SMTP_TLS = "none"
        yield script


def _send() -> None:
    while sending.send_due():
        pass


def _kill_and_recover(point: str, kills: int, ledger: Path, post: Script) -> None:
    asks = point == "run.approval_granted"
    place = office(autonomy="draft" if asks else "autonomous")
    emails = receive_many(place, kills)
    if asks:
        executing.run_due()
        with in_workspace(place.id):
            waiting = list(ActionIntent.objects.values_list("approvals__id", flat=True))
        for approval_id in waiting:
            approving.approve(workspace_id=place.id, approval_id=approval_id, actor=PERSON)
    if point == "run.closed":
        work()
        _send()
        for _ in range(kills):
            forking.killed_at(point, outbox.drain)
            _due_events()
    else:
        for _ in range(kills):
            forking.killed_at(point, lambda: executing.run_due(limit=1))
    make_due()
    work()
    _send()
    _due_events()
    drain()
    _check(place, emails, ledger, extra_calls=kills if point == "run.model_answered" else 0)
    assert len(post.accepted) == len(emails)
    assert len({to_of(content) for content in post.accepted}) == len(emails)


def to_of(content: bytes) -> str:
    """The recipient that a sent mail names."""
    return next(line for line in content.decode().splitlines() if line.lower().startswith("to:"))


def _due_events() -> None:
    """The leases of killed drains end."""
    import psycopg

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        owner.execute(
            "UPDATE kernel_outboxevent SET available_at = now(), claims = least(claims, 1) WHERE published_at IS NULL"
        )
        owner.execute("UPDATE kernel_outboxclaim SET until = now()")


def _check(place, emails, ledger: Path, *, extra_calls: int) -> None:
    with in_workspace(place.id):
        replies = list(OutboundMessage.objects.values_list("entry__in_reply_to__email_id", flat=True))
        assert sorted(replies) == sorted(email.id for email in emails)
        assert AgentRun.objects.filter(is_live=True).count() == 0
        assert Execution.objects.filter(status="succeeded").count() == len(emails)
        assert set(Execution.objects.values_list("input_tokens", "cost_micros")) == {(100, 50)}
        assert ExecutionStep.objects.filter(kind="model").count() == len(emails)
        assert ActionIntent.objects.filter(status="executed").count() == len(emails)
    calls = len(ledger.read_bytes().splitlines())
    assert calls == len(emails) + extra_calls


@pytest.mark.parametrize("point", [*IN_THE_WORKER, "run.closed"])
def test_a_killed_worker_loses_and_doubles_nothing(db, script, post, point):
    _kill_and_recover(point, 10, script, post)


@pytest.mark.deep
@pytest.mark.parametrize("point", [*IN_THE_WORKER, "run.closed"])
def test_fifty_killed_workers_lose_and_double_nothing(db, script, post, point):
    _kill_and_recover(point, 50, script, post)


def test_the_lease_of_a_killed_worker_ends_by_itself(db, script, settings):
    settings.RUN_LEASE_SECONDS = 0.4
    place = office()
    receive_many(place, 1)
    forking.killed_at("run.model_called", executing.run_due)
    assert work() == 0
    time.sleep(0.5)
    assert work() == 1


def test_a_worker_that_dies_at_each_attempt_is_noticed(db, script, settings):
    settings.RUN_RETRY_SECONDS = [0.0, 0.0]
    place = office()
    receive_many(place, 1)
    for _ in range(3):
        forking.killed_at("run.model_called", executing.run_due)
        make_due()
    work()
    with in_workspace(place.id):
        row = Execution.objects.get()
    assert (row.status, row.outcome) == ("needs_human", "poison")


def _stoppable() -> None:
    """A worker as Celery stops it: the signal ends the loop after the present step."""
    signal.signal(signal.SIGTERM, lambda *_: shifts.stop())
    tasks.run_executions()


def test_a_worker_that_is_stopped_finishes_its_step_and_exits(db, tmp_path, monkeypatch):
    stops = 20
    path, ledger = tmp_path / "script.json", tmp_path / "calls"
    path.write_bytes(orjson.dumps([{"answer": ANSWER, "sleep": 0.05, "input_tokens": 1}]))
    monkeypatch.setenv("AI_SCRIPT", str(path))
    monkeypatch.setenv("AI_SCRIPT_LEDGER", str(ledger))
    place = office()
    emails = receive_many(place, stops + 4)
    for index in range(stops):
        before = ledger.stat().st_size if ledger.exists() else 0
        child = forking.start(_stoppable)
        forking.wait_until(lambda size=before: ledger.exists() and ledger.stat().st_size > size)
        began = time.monotonic()
        os.kill(child, signal.SIGTERM)
        assert forking.ended(child) == "exit 0"
        assert time.monotonic() - began < 10
        with in_workspace(place.id):
            assert not Execution.objects.filter(status="running").exists(), index
    work()
    send_all()
    with in_workspace(place.id):
        assert Execution.objects.filter(status="succeeded").count() == len(emails)
        assert OutboundMessage.objects.count() == len(emails)
        assert ExecutionStep.objects.filter(kind="model").count() == len(emails)
    assert len(ledger.read_bytes().splitlines()) == len(emails)


@pytest.mark.deep
def test_chaos_ends_with_every_run_final_and_one_reply_each(db, script, settings):
    """Three workers, killed and frozen at random for a while, over two hundred runs (H2)."""
    import random

    settings.RUN_LEASE_SECONDS = 1.0
    settings.RUN_RETRY_SECONDS = [0.05] * 20
    place = office()
    emails = receive_many(place, 200)
    dice = random.Random(7)
    workers: list[int] = []
    ends = time.monotonic() + 40
    while time.monotonic() < ends:
        while len(workers) < 3:
            workers.append(forking.start(lambda: [executing.run_due() or time.sleep(0.05) for _ in range(10_000)]))
        victim = dice.choice(workers)
        if dice.random() < 0.7:
            os.kill(victim, signal.SIGKILL)
            forking.ended(victim)
            workers.remove(victim)
        else:
            os.kill(victim, signal.SIGSTOP)
            time.sleep(dice.uniform(1.2, 2.5))
            os.kill(victim, signal.SIGCONT)
        time.sleep(0.2)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
        forking.ended(worker)
    for _ in range(30):
        make_due()
        work()
        send_all()
    with in_workspace(place.id):
        assert not Execution.objects.filter(status__in=LIVE).exists()
        replies = list(OutboundMessage.objects.values_list("entry__in_reply_to__email_id", flat=True))
        assert len(replies) == len(set(replies))
        assert Execution.objects.filter(status="succeeded").count() == len(replies)
        assert len(replies) == len(emails)


@pytest.mark.parametrize(
    ("script_of", "status", "intent", "state"),
    [
        ({}, "succeeded", "executed", "handled"),
        ({"rcpt": "550 no such user"}, "needs_human", "failed", "threaded"),
        ({"data": "cut"}, "needs_human", "uncertain", "threaded"),
    ],
)
def test_the_run_ends_as_the_mail_server_says(db, post, script_of, status, intent, state):
    place = office()
    play()
    (email,) = receive_many(place, 1)
    work()
    for name, value in script_of.items():
        setattr(post, name, value)
    _send()
    drain()
    done = case(email)
    assert (done.execution.status, done.intent.status, done.email.state) == (status, intent, state)
    if status == "succeeded":
        content = post.accepted[0].decode()
        assert "auto-submitted: auto-replied" in content.lower()
        assert ANSWER in content

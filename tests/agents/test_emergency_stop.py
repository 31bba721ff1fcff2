"""M7: the stop holds at every point where a worker may be caught, through restarts and an emptied Redis.

A worker is frozen at the point, the workspace is stopped, Redis is emptied, and the worker wakes up. From the stop on no
model is asked and no mail leaves, by it or by any other process; after the release everything is done, once.
"""

from pathlib import Path

import orjson
import pytest

from agents.models import ActionIntent, AgentRun, Execution
from agents.services import approving, executing, proposing
from inbox.models import OutboundMessage
from inbox.services import sending
from kernel import nudge
from kernel.transactions import in_workspace
from tenancy.services import stopping
from tests.agents import forking
from tests.agents.factories import ANSWER, PERSON, drain, make_due, office, receive, receive_many, work
from tests.agents.test_crashes import IN_THE_WORKER
from tests.world.smtp import Script, ScriptedServer

POINTS = [*IN_THE_WORKER, "send.before_provider"]
ROUNDS = 4


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch) -> Path:
    """A script for the model, and the file of the calls that were made."""
    path, calls = tmp_path / "script.json", tmp_path / "calls"
    path.write_bytes(orjson.dumps([{"answer": ANSWER, "input_tokens": 1}]))
    calls.touch()
    monkeypatch.setenv("AI_SCRIPT", str(path))
    monkeypatch.setenv("AI_SCRIPT_LEDGER", str(calls))
    return calls


@pytest.fixture
def post(settings):
    script = Script()
    with ScriptedServer(script) as server:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", server.port
        settings.MAIL_SMTP_TLS = "none"
        yield script


def _send() -> None:
    while sending.send_due():
        pass


def _caught(point: str, rounds: int, ledger: Path, post: Script) -> None:
    asks = point == "run.approval_granted"
    place = office(autonomy="draft" if asks else "autonomous")
    emails = receive_many(place, rounds)
    if asks:
        executing.run_due()
        with in_workspace(place.id):
            waiting = list(ActionIntent.objects.values_list("approvals__id", flat=True))
        for approval_id in waiting:
            approving.approve(workspace_id=place.id, approval_id=approval_id, actor=PERSON)
    of_sender = point.startswith("send.")
    if of_sender:
        work()
    for _ in range(rounds):
        child = forking.frozen_at(point, sending.send_due if of_sender else executing.run_due)
        stopping.stop(workspace_id=place.id, reason="the agent promises refunds")
        outside = _outside(ledger, post)
        nudge.client().flushdb()
        assert forking.thaw(child) == "exit 0"
        # Every other process, old or new, and long after.
        make_due()
        work()
        _send()
        assert _outside(ledger, post) == outside, point
        stopping.release(workspace_id=place.id)
    make_due()
    work()
    _send()
    drain()
    with in_workspace(place.id):
        assert OutboundMessage.objects.filter(state="sent").count() == len(emails) == len(post.accepted)
        assert set(OutboundMessage.objects.values_list("attempts", flat=True)) == {1}
        assert Execution.objects.filter(status="succeeded").count() == len(emails)
        assert not AgentRun.objects.filter(is_live=True).exists()


def _outside(ledger: Path, post: Script) -> tuple[int, int]:
    """What has left the workspace: calls of the model, and mails."""
    return len(ledger.read_bytes().splitlines()), len(post.accepted)


@pytest.mark.parametrize("point", POINTS)
def test_nothing_leaves_after_a_stop(db, ledger, post, point, cases):
    _caught(point, ROUNDS, ledger, post)
    cases("M7", ROUNDS)


@pytest.mark.deep
@pytest.mark.parametrize("point", POINTS)
def test_nothing_leaves_after_twenty_stops_at_each_point(db, ledger, post, point, cases):
    _caught(point, 20, ledger, post)
    cases("M7", 20)


def test_work_of_an_old_generation_does_nothing_in_a_new_one(db, ledger, post):
    """Stopped and released while the worker slept: its claim is of a generation that is over."""
    place = office()
    receive(place)
    child = forking.frozen_at("run.model_called", lambda: executing.run_due(limit=1))
    stopping.stop(workspace_id=place.id, reason="a drill")
    stopping.release(workspace_id=place.id)
    assert forking.thaw(child) == "exit 0"
    assert _outside(ledger, post) == (0, 0)
    with in_workspace(place.id):
        row = Execution.objects.get()
    assert (row.status, row.attempts) == ("queued", 0)


def test_one_workspace_is_stopped_and_the_others_go_on(db, ledger, post):
    stopped, other = office(), office("globex")
    receive(stopped)
    stopping.stop(workspace_id=stopped.id, reason="a drill")
    # It is not even taken: who took it only to put it back would come to nothing else.
    assert executing.run_due(limit=1) == 0
    receive(other)
    work()
    _send()
    assert _outside(ledger, post) == (1, 1)
    assert b"globex.test" in post.accepted[0]


def test_a_person_writes_and_it_waits(db, post):
    from inbox.services import writing

    place = office()
    email = receive(place)
    stopping.stop(workspace_id=place.id, reason="a drill")
    writing.reply(workspace_id=place.id, email_id=email.id, text="I look into it.", key="one", author=PERSON)
    _send()
    assert post.accepted == []
    stopping.release(workspace_id=place.id)
    _send()
    assert len(post.accepted) == 1


def test_callers_from_outside_are_told(db):
    place = office()
    email = receive(place)
    stopping.stop(workspace_id=place.id, reason="a drill")
    with pytest.raises(stopping.Stopped):
        proposing.propose(workspace_id=place.id, email_id=email.id, text=ANSWER, author=PERSON)
    with in_workspace(place.id):
        assert not ActionIntent.objects.exists()

"""Real processes, really killed (E6): nothing is lost, and only what was not confirmed is sent again."""

import os
import signal
import subprocess
import sys
import time

import pytest
from django.conf import settings as django_settings

from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import Running, as_owner, dispatch, emit, hook, is_settled, rows
from tests.webhooks.nursery import nursery
from tests.webhooks.receiver import answer, slowly
from webhooks.models import WebhookAttempt

IN_FLIGHT = 8


def start(**variables: str) -> subprocess.Popen:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "WEBHOOK_TIMEOUT_SECONDS": "1",
        "WEBHOOK_LEASE_SECONDS": "3",
        "WEBHOOK_POLL_SECONDS": "0.1",
        "WEBHOOK_PER_ENDPOINT": str(IN_FLIGHT),
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "run_webhooks"],
        cwd=django_settings.BASE_DIR,
        env=environment | variables,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen, seconds: float = 60) -> int:
    _, errors = process.communicate(timeout=seconds)
    assert b"Traceback" not in errors, errors.decode()
    return process.returncode


POINTS = ["webhook.claimed", "webhook.before_send", "webhook.after_send", "webhook.before_settle", "webhook.settled"]
ROUNDS = 20


@pytest.mark.long
def test_a_hundred_deaths_lose_nothing_and_only_the_unconfirmed_is_sent_again(workspace, receiver, settings, cases):
    """A dispatcher dies at each of five points, twenty times; then one lives and finishes the work."""
    hook(workspace, receiver.url("/plain"))
    hook(workspace, receiver.url("/ordered"), ordered=True)
    seen_after_confirmation: list[str] = []
    events = 0
    with nursery(WEBHOOK_POLL_SECONDS="0.1", WEBHOOK_PER_ENDPOINT=str(IN_FLIGHT), WEBHOOK_BATCH="40") as doomed:
        for _ in range(ROUNDS):
            emit(workspace, 4)
            events += 4
            for point in POINTS:
                confirmed = {(row.webhook_id, str(row.system_event_id)) for row in rows(status="delivered")}
                before = len(receiver.requests)
                assert doomed.die_at(point) == -signal.SIGKILL, point
                paths = {"/plain": False, "/ordered": True}
                ordered = {row.webhook_id: row.sequence is not None for row in rows()}
                sent = {(paths[r.path], r.headers["webhook-id"]) for r in receiver.requests[before:]}
                seen_after_confirmation += [i for w, i in confirmed if (ordered[w], i) in sent]
                as_owner("UPDATE webhooks_webhookdelivery SET lease_until = now() WHERE lease_until IS NOT NULL")
    cases("E6", ROUNDS * len(POINTS))
    with Running() as last:
        last.until(lambda: len(rows(status="delivered")) == 2 * events, seconds=60)

    assert seen_after_confirmation == []
    for path in ("/plain", "/ordered"):
        assert len(set(receiver.ids(path))) == events
    assert list(dict.fromkeys(receiver.ids("/ordered"))) == [
        str(row.system_event_id) for row in sorted(rows(webhook__ordered=True), key=lambda row: row.sequence or 0)
    ]
    assert len(receiver.requests) > 2 * events  # some of the dead had sent what they could not confirm
    with in_all_workspaces("test"):
        assert WebhookAttempt.objects.count() == 2 * events
    assert all(row.attempts == 1 for row in rows())


def test_sigterm_finishes_what_is_in_flight_and_exits_with_0(workspace, receiver):
    receiver.scripts["/hook"] = slowly(answer(200), 0.5)
    hook(workspace, receiver.url())
    emit(workspace, 100)
    process = start()
    limit = time.monotonic() + 60
    while not receiver.requests and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert finish(process) == 0
    assert rows(lease_until__isnull=False) == []
    assert len(rows(status="delivered")) == len(receiver.requests) < 100
    assert len(rows(status="pending", attempts=0)) == 100 - len(receiver.requests)
    as_owner("UPDATE webhooks_webhookdelivery SET due_at = now() WHERE status = 'pending'")
    receiver.scripts.clear()
    dispatch(is_settled)
    assert len(set(receiver.ids())) == len(receiver.ids()) == 100


def test_a_late_writer_changes_nothing(workspace, receiver):
    """A dispatcher that was stopped for longer than its lease writes back: another one has taken over meanwhile."""
    from webhooks.services import claiming, settling
    from webhooks.services.claiming import Quota
    from webhooks.types import Outcome, Result

    webhook = hook(workspace, receiver.url())
    emit(workspace)
    (stale,) = claiming.claim(quotas=[Quota(str(webhook.id), 1)])
    assert claiming.claim(quotas=[Quota(str(webhook.id), 1)]) == []
    as_owner("UPDATE webhooks_webhookdelivery SET lease_until = now()")
    (taken,) = claiming.claim(quotas=[Quota(str(webhook.id), 1)])
    assert taken.lease_token == stale.lease_token + 1

    settling.settle(results=[Result(stale, Outcome(500))])
    claiming.give_back(claims=[(stale, 0.0)])
    assert (rows()[0].lease_until is not None, rows()[0].attempts) == (True, 0)
    settling.settle(results=[Result(taken, Outcome(200))])
    settling.settle(results=[Result(taken, Outcome(500)), Result(stale, Outcome(410))])
    assert (rows()[0].status, rows()[0].attempts) == ("delivered", 1)
    with in_all_workspaces("test"):
        assert WebhookAttempt.objects.count() == 1


def test_the_database_goes_away_for_a_moment(workspace, receiver):
    """Its connections are cut while requests are in flight: what landed is still written back, once."""
    receiver.scripts["/hook"] = slowly(answer(200), 0.2)
    hook(workspace, receiver.url())
    emit(workspace, 50)
    with Running() as running:
        for _ in range(3):
            seen = len(receiver.requests)
            running.until(lambda seen=seen: len(receiver.requests) > seen)
            as_owner(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%%webhook%%'"
            )
            _reconnect()
        running.until(lambda: _quietly(lambda: len(rows(status="delivered")) == 50))
    assert len(set(receiver.ids())) == 50


def test_a_lease_shorter_than_a_request_is_refused(settings):
    from django.core.exceptions import ImproperlyConfigured

    from webhooks.worker.limits import limits

    settings.WEBHOOK_LEASE_SECONDS = settings.WEBHOOK_TIMEOUT_SECONDS + 1
    with pytest.raises(ImproperlyConfigured):
        limits()


def _reconnect() -> None:
    from django.db import connections

    connections["default"].close()


def _quietly(question):
    from django.db import OperationalError

    try:
        return question()
    except OperationalError:
        _reconnect()
        return False


def test_a_result_that_cannot_be_written_does_not_take_others_with_it(workspace, receiver, monkeypatch, settings):
    """A fault in judging one of them: that one is sent again when its lease ends, the rest is recorded."""
    from webhooks.services import judging

    settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 1.0, 3.0
    honest, broken = judging.judge, []

    def judge(*, outcome, attempts_before, retries):
        if outcome.status_code == 299 and len(broken) < 2:
            broken.append(outcome)
            raise RuntimeError("a fault of ours")
        return honest(outcome=outcome, attempts_before=attempts_before, retries=retries)

    monkeypatch.setattr(judging, "judge", judge)
    receiver.scripts["/odd"] = answer(299)
    odd = hook(workspace, receiver.url("/odd"))
    hook(workspace, receiver.url())
    emit(workspace, 3)
    dispatch(lambda: len(rows(status="delivered")) == 6)
    assert len(set(receiver.ids())) == len(receiver.ids()) == 3
    assert len(rows(webhook=odd, status="delivered")) == 3
    assert len(broken) == 2

"""Retries (E2) and what follows from them (E3): the moments, the end, and an endpoint that fails for too long."""

from datetime import timedelta

import orjson
import pytest

from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import SLUG, as_owner, dispatch, drain, emit, fresh, hook, is_settled, make_due, rows
from tests.webhooks.receiver import answer
from webhooks.models import SystemEvent, WebhookAttempt
from webhooks.services import subscribing

DELAYS = [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
FAIL, OK = answer(500), answer(200)


EVENTS = 20


def test_attempts_come_at_their_moments_until_one_succeeds(workspace, receiver, settings, cases):
    """Ten endpoints of which the first succeeds at once and the last at the last attempt, twenty events to each."""
    # Two hundred requests at once to one thread: on a busy machine some take longer than a second, and would count as failed.
    settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 10.0, 20.0
    steps = range(len(DELAYS) + 1)
    hooks = {step: hook(workspace, receiver.url(f"/{step}")) for step in steps}
    emit(workspace, EVENTS)
    for attempt in steps:
        receiver.scripts = {f"/{step}": FAIL if attempt < step else OK for step in steps}
        dispatch()
        waiting = rows(status="pending")
        assert len(waiting) == EVENTS * (len(steps) - 1 - attempt)
        for row in waiting:
            assert row.attempts == attempt + 1
            waits = (row.due_at - row.updated_at).total_seconds()  # the second is a moment later than the first
            assert 0.9 * DELAYS[attempt] - 0.1 <= waits <= 1.1 * DELAYS[attempt]
        make_due()
    cases("E2", EVENTS * len(DELAYS))
    for step, webhook in hooks.items():
        assert {(row.status, row.attempts) for row in rows(webhook=webhook)} == {("delivered", step + 1)}
        requests = receiver.at(f"/{step}")
        assert len(requests) == EVENTS * (step + 1)
        assert (
            len({(r.headers["webhook-id"], r.body) for r in requests}) == len(set(receiver.ids(f"/{step}"))) == EVENTS
        )


def test_after_the_last_attempt_it_has_failed_and_another_endpoint_hears_of_it(workspace, receiver, settings):
    settings.WEBHOOK_RETRY_SECONDS = [0.01, 0.01]
    receiver.scripts["/hook"] = FAIL
    hook(workspace, receiver.url("/watch"), ["webhook.delivery_exhausted"])
    dead = hook(workspace, receiver.url(), ["*"])
    emit(workspace)
    dispatch(lambda: rows(status="failed"))
    (row,) = rows(webhook=dead)
    assert (row.attempts, row.last_status_code) == (3, 500)
    with in_all_workspaces("test"):
        assert list(WebhookAttempt.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]
    drain()
    dispatch()
    (told,) = [orjson.loads(request.body) for request in receiver.at("/watch")]
    assert told["type"] == "webhook.delivery_exhausted"
    assert (told["data"]["webhook_id"], told["data"]["webhook_delivery_id"]) == (str(dead.id), str(row.id))
    assert told["data"]["attempts"] == 3


def test_news_of_failures_does_not_breed_among_dead_endpoints(workspace, receiver, settings):
    settings.WEBHOOK_RETRY_SECONDS = []
    for number in range(4):
        receiver.scripts[f"/{number}"] = FAIL
        hook(workspace, receiver.url(f"/{number}"), ["*"])
    emit(workspace)
    for _ in range(4):
        dispatch()
        drain()
    dispatch()
    assert len(rows(system_event__slug="webhook.delivery_exhausted")) == 4 * 3
    assert all(row.status == "failed" for row in rows())


@pytest.fixture
def five_days(settings):
    """A period that a test can let pass, and retries that never end."""
    settings.WEBHOOK_RETRY_SECONDS = [0.001] * 500
    settings.WEBHOOK_DISABLE_AFTER_SECONDS = 5 * 86_400


def pass_time(**ago: float) -> None:
    """Let time pass for the clocks of all endpoints."""
    as_owner(
        "UPDATE webhooks_webhook SET failing_since = failing_since - %s, failure_noted_at = failure_noted_at - %s",
        timedelta(**ago),
        timedelta(**ago),
    )


def attempt_once(receiver) -> None:
    before = len(receiver.at())
    make_due()
    dispatch(lambda: len(receiver.at()) > before and not rows(lease_until__isnull=False))


def test_failing_for_five_days_disables_once_and_says_so_once(workspace, receiver, five_days, cases):
    receiver.scripts["/hook"] = FAIL
    dead = hook(workspace, receiver.url())
    emit(workspace)
    for _ in range(6):
        attempt_once(receiver)
        assert fresh(dead).state == "active"
        pass_time(hours=20)
    attempt_once(receiver)
    assert (fresh(dead).state, fresh(dead).disabled_reason) == ("disabled", "Every attempt of 5 days failed.")
    drain()
    with in_all_workspaces("test"):
        assert SystemEvent.objects.filter(slug="webhook.disabled").count() == 1
    dispatch(lambda: rows(status="cancelled"))
    seen = len(receiver.at())
    emit(workspace)
    dispatch(lambda: len(rows(status="cancelled")) == 2)
    assert len(receiver.at()) == seen
    cases("E3", 1)


def test_a_success_in_between_stops_the_clock(workspace, receiver, five_days, cases):
    live = hook(workspace, receiver.url())
    for _ in range(4):
        receiver.scripts["/hook"] = FAIL
        emit(workspace)
        attempt_once(receiver)
        assert fresh(live).failing_since is not None
        pass_time(hours=40)
        receiver.scripts["/hook"] = OK
        make_due()
        dispatch(lambda: not rows(status="pending") and not rows(lease_until__isnull=False))
        assert fresh(live).failing_since is None
    assert fresh(live).state == "active"
    cases("E3", 1)


def test_failing_then_quiet_for_long_then_one_failure_is_not_failing_all_the_time(
    workspace, receiver, five_days, cases
):
    receiver.scripts["/hook"] = FAIL
    quiet = hook(workspace, receiver.url())
    emit(workspace)
    for _ in range(4):
        attempt_once(receiver)
        pass_time(hours=7)
    pass_time(days=6)
    attempt_once(receiver)
    assert fresh(quiet).state == "active"
    cases("E3", 1)


def test_one_burst_of_failures_is_not_several_failures(workspace, receiver, five_days):
    receiver.scripts["/hook"] = FAIL
    bursting = hook(workspace, receiver.url())
    emit(workspace, 30)
    dispatch(lambda: len(receiver.at()) >= 60)
    assert fresh(bursting).failures_noted == 1


def test_enabling_replays_the_gap_and_nothing_else(workspace, receiver, settings):
    settings.WEBHOOK_RETRY_SECONDS = []
    webhook = hook(workspace, receiver.url())
    emit(workspace, 2)
    dispatch()
    receiver.scripts["/hook"] = FAIL
    emit(workspace, 3)  # fail for good while it is still active
    dispatch()
    assert len(rows(status="failed")) == 3
    subscribing.disable(workspace_id=workspace, webhook_id=webhook.id)
    emit(workspace, 4)  # are kept while it is disabled
    dispatch(lambda: len(rows(status="cancelled")) == 4)
    receiver.scripts["/hook"] = OK
    receiver.requests.clear()
    _, replayed = subscribing.enable(workspace_id=workspace, webhook_id=webhook.id)
    assert replayed == 3 + 4
    emit(workspace, 1)
    dispatch(is_settled)
    assert len(receiver.ids()) == len(set(receiver.ids())) == 8
    assert subscribing.enable(workspace_id=workspace, webhook_id=webhook.id)[1] == 0
    assert len(rows(status="delivered", system_event__slug=SLUG)) == 2 + 7 + 1

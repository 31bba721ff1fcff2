"""Who works on one webhook for long holds its rows; the deliveries of everybody else go on, once each and in time."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import connection

from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import Running, as_owner, emit, fresh, hook, rows
from tests.webhooks.receiver import answer, slowly
from tests.webhooks.test_fairness import pile_up
from webhooks.models import WebhookDelivery
from webhooks.services import cancelling, subscribing

LEASE = 2.0
WEBHOOK = "SELECT 1 FROM webhooks_webhook WHERE id = %s FOR NO KEY UPDATE"
DELIVERIES = "SELECT 1 FROM webhooks_webhookdelivery WHERE webhook_id = %s FOR NO KEY UPDATE"


@contextmanager
def holding(statement: str, *values: object) -> Iterator[None]:
    """Somebody else's transaction, which has got so far and goes on."""
    with psycopg.connect(django_settings.DATABASE_OWNER_URL_OF_TEST) as other:
        other.execute("SET app.all_workspaces = 'on'")
        other.execute(statement, values)
        yield
        other.rollback()


@pytest.fixture(autouse=True)
def _short_leases(settings) -> None:
    settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 0.5, LEASE + 0.6
    settings.WEBHOOK_RETRY_SECONDS = [60, 60]


# Its state, whether it has been failing, and what its endpoint answers.
BUSY = {
    "disabled, with news": ("disabled", False, 200),
    "fails": ("active", False, 500),
    "fails for too long": ("active", True, 500),
    "works again": ("active", True, 200),
    "is gone": ("active", False, 410),
}


@pytest.mark.parametrize(("state", "is_failing", "status"), BUSY.values(), ids=BUSY)
@pytest.mark.parametrize(
    "held",
    [pytest.param(WEBHOOK, id="its row"), pytest.param(DELIVERIES, id="its deliveries", marks=pytest.mark.deep)],
)
def test_a_webhook_that_somebody_works_on_delays_nobody_else(workspace, receiver, held, state, is_failing, status):
    receiver.scripts["/busy"] = slowly(answer(status), 0.05)
    busy, live = hook(workspace, receiver.url("/busy")), hook(workspace, receiver.url("/live"))
    if is_failing:
        as_owner(
            "UPDATE webhooks_webhook SET failing_since = now() - interval '6 days', failures_noted = 9,"
            " failure_noted_at = now() - interval '1 day' WHERE id = %s",
            busy.id,
        )
    as_owner("UPDATE webhooks_webhook SET state = %s WHERE id = %s", state, busy.id)
    emit(workspace, 5)
    with Running() as running:
        if state == "active":
            running.until(lambda: receiver.at("/busy"))
        with holding(held, busy.id):
            # For longer than a lease; a failing endpoint gets one after the other, so not too many.
            for sent in range(10, 40, 5):
                emit(workspace, 5)
                running.until(lambda n=sent: len(rows(webhook=live, status="delivered")) == n, seconds=1.5)
                time.sleep(1.5 * LEASE / 6)
        # What was passed over comes by again.
        emit(workspace, 1)
        running.until(lambda: not rows(webhook=busy, status="pending", attempts=0))
    assert Counter(receiver.ids("/live")).most_common(1)[0][1] == 1
    # A result that could not be written for longer than its lease may be sent once more, under the same id.
    assert max(Counter(receiver.ids("/busy")).values(), default=1) <= (1 if held == WEBHOOK else 2)
    assert fresh(busy).state == ("active" if (status, is_failing) in ((200, True), (500, False)) else "disabled")
    assert status != 200 or fresh(busy).failing_since is None


def test_enabling_that_is_under_way_loses_nothing_and_sends_nothing_twice(workspace, receiver):
    """While it lasts, the dispatcher sees a disabled webhook with news; what it leaves alone is sent afterwards."""
    webhook = hook(workspace, receiver.url())
    subscribing.disable(workspace_id=workspace, webhook_id=webhook.id)
    emit(workspace, 3)
    with Running() as running:
        running.until(lambda: len(rows(webhook=webhook, status="cancelled")) == 3)
        with holding(WEBHOOK, webhook.id):
            emit(workspace, 3)
            time.sleep(0.5)
            assert len(rows(webhook=webhook, status="pending")) == 3
        subscribing.enable(workspace_id=workspace, webhook_id=webhook.id)
        running.until(lambda: len(rows(webhook=webhook, status="delivered")) == 6)
    assert len(receiver.ids()) == len(set(receiver.ids())) == 6


@pytest.mark.parametrize("end", ["disabled by its endpoint", "disabled by hand", "deleted"])
def test_what_waits_for_a_closed_webhook_is_cancelled_in_chunks(workspace, receiver, end):
    receiver.scripts["/closed"] = answer(410 if end == "disabled by its endpoint" else 500)
    closed, live = hook(workspace, receiver.url("/closed")), hook(workspace, receiver.url("/live"))
    pile_up(closed, 20_000)
    with Running() as running:
        if end == "disabled by its endpoint":
            running.until(lambda: fresh(closed).state == "disabled")
        elif end == "disabled by hand":
            subscribing.disable(workspace_id=workspace, webhook_id=closed.id)
        else:
            subscribing.delete(workspace_id=workspace, webhook_id=closed.id)
        for sent in range(5, 30, 5):
            emit(workspace, 5)
            running.until(lambda n=sent: len(rows(webhook=live, status="delivered")) == n, seconds=3)
        running.until(lambda: not waiting(closed))
    assert len(receiver.ids("/live")) == len(set(receiver.ids("/live"))) == 25
    with in_all_workspaces("test"), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM webhooks_webhookdelivery WHERE status = 'cancelled' GROUP BY xmin")
        chunks = [row[0] for row in cursor.fetchall()]
    assert sum(chunks) > 19_000
    assert max(chunks) <= cancelling.CHUNK


def waiting(webhook) -> bool:
    """Whether something could still be sent to it; what failed just now waits for its next attempt."""
    with in_all_workspaces("test"):
        return WebhookDelivery.objects.filter(webhook=webhook, status="pending").exists()


def test_results_that_cannot_be_written_keep_further_claims_back(workspace, receiver, settings):
    """What is sent and not recorded is sent again when its lease ends: so no more of it than a batch."""
    settings.WEBHOOK_BATCH, settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 20, 1.0, 20.0
    for path in ("/a", "/b", "/c"):
        hook(workspace, receiver.url(path))
    with Running() as running:
        with holding("LOCK TABLE webhooks_webhookattempt IN EXCLUSIVE MODE"):
            emit(workspace, 40)
            running.until(lambda: receiver.requests)
            time.sleep(3)
            assert len(receiver.requests) <= 20
        running.until(lambda: len(rows(status="delivered")) == 120)
    assert all(len(receiver.ids(path)) == len(set(receiver.ids(path))) == 40 for path in ("/a", "/b", "/c"))

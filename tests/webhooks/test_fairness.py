"""No endpoint, however far behind, keeps another one waiting; order and rates where they are asked for."""

import time

import orjson
import pytest
import redis

from kernel import nudge
from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import Running, as_owner, dispatch, emit, fresh, hook, is_settled, new_workspace, rows
from tests.webhooks.receiver import answer, hang, sequence, slowly
from webhooks.models import WebhookDelivery
from webhooks.services import subscribing, testing

MANY = 2_000


def pile_up(webhook, count: int = MANY) -> None:
    """Deliveries that have waited for long, of events made here."""
    as_owner(
        "WITH e AS (INSERT INTO webhooks_systemevent (id, workspace_id, slug, version, aggregate_key, occurred_at,"
        " sequence, body) SELECT gen_random_uuid(), %s, 'old.news', 1, 'x', now(), n, '{}'"
        " FROM generate_series(1, %s) n RETURNING id)"
        " INSERT INTO webhooks_webhookdelivery (id, workspace_id, webhook_id, system_event_id, replay_no, due_at)"
        " SELECT gen_random_uuid(), %s, %s, id, 0, now() - interval '1 hour' FROM e",
        webhook.workspace_id,
        count,
        webhook.workspace_id,
        webhook.id,
    )


@pytest.mark.parametrize("dead", [hang, answer(500), slowly(answer(500), 0.7)], ids=["hangs", "fails", "slow to fail"])
def test_a_dead_endpoint_with_thousands_waiting_delays_nobody(workspace, receiver, dead):
    receiver.scripts["/dead"] = dead
    heap = hook(workspace, receiver.url("/dead"))
    pile_up(heap)
    live = hook(workspace, receiver.url("/live"))
    with Running() as running:
        running.until(lambda: receiver.at("/dead"))
        emit(workspace, 50)
        running.until(lambda: len(rows(webhook=live, status="delivered")) == 50)
        tried = len(receiver.at("/dead"))
    # By the time that all the news had arrived, hardly any of the heap had had its turn.
    assert tried < MANY / 10


def test_many_dead_endpoints_delay_nobody(workspace, receiver, settings):
    """More of them than there are places for requests at once."""
    settings.WEBHOOK_CONCURRENCY, settings.WEBHOOK_TIMEOUT_SECONDS = 8, 4.0
    settings.WEBHOOK_LEASE_SECONDS = 10.0
    receiver.scripts["/dead"] = hang
    for _ in range(20):
        pile_up(hook(workspace, receiver.url("/dead")), 20)
    live = hook(workspace, receiver.url("/live"))
    with Running() as running:
        running.until(lambda: len(receiver.at("/dead")) >= 8)
        emit(workspace, 30)
        running.until(lambda: len(rows(webhook=live, status="delivered")) == 30)
        with in_all_workspaces("test"):
            waits = WebhookDelivery.objects.filter(webhook__url__endswith="/dead", attempts=0).count()
    assert waits > 20 * 20 * 0.5


def test_each_endpoint_has_a_few_requests_at_once_at_most(workspace, receiver):
    receiver.scripts["/hook"] = slowly(answer(200), 0.02)
    hook(workspace, receiver.url())
    emit(workspace, 100)
    dispatch()
    assert len(rows(status="delivered")) == 100
    assert 2 <= receiver.overlaps["/hook"] <= 8


def test_an_ordered_endpoint_gets_one_after_the_other(workspace, receiver, settings):
    settings.WEBHOOK_RETRY_SECONDS = [0.05] * 9
    receiver.scripts["/hook"] = sequence(answer(200), answer(500), answer(503), answer(200))
    hook(workspace, receiver.url(), ordered=True)
    emit(workspace, 12)
    with Running() as first, Running():
        first.until(lambda: len(rows(status="delivered")) == 12)
    with in_all_workspaces("test"):
        order = list(WebhookDelivery.objects.order_by("sequence").values_list("system_event_id", flat=True))
    seen = list(dict.fromkeys(receiver.ids()))
    assert seen == [str(each) for each in order]
    assert receiver.ids()[1:4] == [seen[1]] * 3
    assert receiver.overlaps["/hook"] == 1


def test_a_test_that_fails_keeps_nothing_back_in_an_ordered_endpoint(workspace, receiver):
    """Receivers refuse types that they do not know; the events behind the test are real, and due."""
    webhook = hook(workspace, receiver.url(), ordered=True)
    receiver.scripts["/hook"] = sequence(answer(422), answer(200))
    tested = testing.send_test(workspace_id=workspace, webhook_id=webhook.id)
    emit(workspace, 3)
    dispatch()
    assert len(rows(status="delivered")) == 3
    (failed,) = rows(id=tested.id)
    assert (failed.status, failed.attempts, failed.last_status_code) == ("failed", 1, 422)


def test_what_waits_follows_when_order_is_switched_on(workspace, receiver):
    webhook = hook(workspace, receiver.url())
    emit(workspace, 5)
    subscribing.update(workspace_id=workspace, webhook_id=webhook.id, changes={"ordered": True})
    assert all(row.sequence for row in rows())
    emit(workspace, 5)
    dispatch()
    refs = [orjson.loads(request.body)["data"]["ref"] for request in receiver.requests]
    assert refs == ["n0", "n1", "n2", "n3", "n4"] * 2
    subscribing.update(workspace_id=workspace, webhook_id=webhook.id, changes={"ordered": False})
    emit(workspace, 5)
    dispatch()
    assert len(receiver.requests) == 15


@pytest.mark.parametrize("redis_is_there", [True, False])
def test_a_rate_is_kept_by_all_dispatchers_together(workspace, receiver, settings, monkeypatch, redis_is_there):
    # A database that no other run empties meanwhile; or none at all.
    url = f"{settings.REDIS_URL.rpartition('/')[0]}/13" if redis_is_there else "redis://127.0.0.1:1/0"
    counts = redis.Redis.from_url(url)
    monkeypatch.setattr(nudge, "client", lambda: counts)
    settings.REDIS_URL = url
    hook(workspace, receiver.url(), rate_per_second=10)
    emit(workspace, 34)
    began = time.monotonic()
    with Running() as first, Running():
        first.until(lambda: len(rows(status="delivered")) == 34)
    # Four windows of a second: between the end of the first and the start of the last lie two whole ones.
    assert time.monotonic() - began >= 2


def test_two_dispatchers_share_the_work_and_send_nothing_twice(workspace, receiver):
    hook(workspace, receiver.url())
    hook(new_workspace(), receiver.url("/other"))
    with Running() as first, Running():
        emit(workspace, 300)
        first.until(lambda: len(rows(status="delivered")) == 300)
    assert len(receiver.ids()) == len(set(receiver.ids())) == 300


def test_a_slow_answer_within_the_lease_is_not_sent_twice(workspace, receiver, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 1.0, 3.0
    receiver.scripts["/hook"] = slowly(answer(200), 0.9)
    hook(workspace, receiver.url())
    emit(workspace, 3)
    with Running() as first, Running():
        first.until(lambda: len(rows(status="delivered")) == 3)
    assert len(receiver.ids()) == 3


def test_deleted_and_disabled_in_mid_flight(workspace, receiver):
    """What is in flight ends and is recorded; what waits is cancelled; nothing goes out afterwards."""
    receiver.scripts["/deleted"] = receiver.scripts["/disabled"] = slowly(answer(200), 0.3)
    deleted, disabled = hook(workspace, receiver.url("/deleted")), hook(workspace, receiver.url("/disabled"))
    emit(workspace, 60)
    with Running() as running:
        running.until(lambda: receiver.at("/deleted") and receiver.at("/disabled"))
        subscribing.delete(workspace_id=workspace, webhook_id=deleted.id)
        subscribing.disable(workspace_id=workspace, webhook_id=disabled.id)
        running.until(lambda: not rows(status="pending") and not rows(lease_until__isnull=False))
    for webhook, path in ((deleted, "/deleted"), (disabled, "/disabled")):
        ended = {row.status for row in rows(webhook=webhook)}
        assert ended == {"delivered", "cancelled"}
        assert len(rows(webhook=webhook, status="delivered")) == len(receiver.at(path)) < 60
    emit(workspace, 1)
    dispatch(is_settled)
    assert fresh(deleted).deleted_at is not None
    assert rows(webhook=deleted, status="pending") == []


def test_the_loss_of_redis_costs_only_the_wake_up(workspace, receiver, monkeypatch, settings):
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    monkeypatch.setattr(nudge, "client", lambda: away)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    hook(workspace, receiver.url())
    with Running() as running:
        emit(workspace, 5)
        running.until(lambda: len(rows(status="delivered")) == 5)


def test_a_ring_wakes_a_dispatcher_that_hardly_polls(workspace, receiver, settings):
    settings.WEBHOOK_POLL_SECONDS = 600
    hook(workspace, receiver.url())
    with Running() as running:
        running.until(lambda: nudge.client().pubsub_numsub("webhooks:due")[0][1])
        emit(workspace, 5)
        running.until(lambda: len(rows(status="delivered")) == 5)


def test_who_has_more_than_its_share_does_not_wait_for_the_next_poll(workspace, receiver, settings):
    settings.WEBHOOK_BATCH, settings.WEBHOOK_POLL_SECONDS = 8, 600
    much = hook(workspace, receiver.url("/much"))
    hook(workspace, receiver.url("/little"))
    with Running() as running:
        running.until(lambda: nudge.client().pubsub_numsub("webhooks:due")[0][1])
        pile_up(much, 20)
        emit(workspace, 1)  # rings once
        running.until(lambda: len(rows(status="delivered")) == 22)


def test_what_rings_while_all_places_are_taken_is_heard_when_they_are_free(workspace, receiver, settings):
    settings.WEBHOOK_BATCH, settings.WEBHOOK_POLL_SECONDS = 8, 600
    receiver.scripts["/slow"] = slowly(answer(200), 0.7)
    hook(workspace, receiver.url("/slow"))
    with Running() as running:
        running.until(lambda: nudge.client().pubsub_numsub("webhooks:due")[0][1])
        emit(workspace, 7)  # fewer than were asked for: nothing seems to be left, and there is room for one
        running.until(lambda: len(receiver.at("/slow")) == 7)
        emit(workspace, 3)
        running.until(lambda: len(rows(status="delivered")) == 10)

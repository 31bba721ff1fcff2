"""Sending again: one, a range, only what never arrived; from the API and from the command line."""

import io
from datetime import timedelta

import orjson
import pytest
from django.core.management import CommandError, call_command

from kernel import clock
from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import Api, as_owner, dispatch, emit, fresh, hook, rows
from tests.webhooks.receiver import answer
from webhooks.models import WebhookAttempt
from webhooks.services import pruning, replaying, subscribing

HOUR = timedelta(hours=1)


@pytest.fixture
def no_retries(settings) -> None:
    settings.WEBHOOK_RETRY_SECONDS = []


def test_one_delivery_again(workspace, receiver, api):
    webhook = hook(workspace, receiver.url())
    emit(workspace)
    waiting = rows()[0]
    path = f"/webhooks/{webhook.id}/replay"
    assert api("POST", path, {"delivery_id": str(waiting.id)}).status_code == 409
    dispatch()
    answered = api("POST", path, {"delivery_id": str(waiting.id)})
    assert (answered.status_code, answered.json()["deliveries"]) == (202, 1)
    dispatch()
    assert [row.replay_no for row in rows()] == [0, 1]
    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


def test_a_range_again_or_only_what_never_arrived(workspace, receiver, api, no_retries):
    webhook = hook(workspace, receiver.url())
    emit(workspace, 3)
    dispatch()
    receiver.scripts["/hook"] = answer(500)
    emit(workspace, 2)
    dispatch()
    receiver.scripts.clear()
    since, until = (clock.now() - HOUR).isoformat(), (clock.now() + HOUR).isoformat()
    path = f"/webhooks/{webhook.id}/replay"
    # The founding of the workspace, from before the webhook, never arrived either.
    assert api("POST", path, {"since": since, "until": until, "failed_only": True}).json()["deliveries"] == 2 + 1
    assert api("POST", path, {"since": since, "until": until, "failed_only": True}).json()["deliveries"] == 0
    dispatch()
    assert api("POST", path, {"since": since}).json()["deliveries"] == 6
    dispatch()
    assert api("POST", path, {"since": until, "until": (clock.now() + 2 * HOUR).isoformat()}).json()["deliveries"] == 0
    assert len(rows(status="delivered")) == 3 + 3 + 6


@pytest.mark.parametrize(
    "body",
    [{}, {"until": "2030-01-01T00:00:00Z"}, {"since": "yesterday"}, {"since": "2030-01-02T00:00:00Z", "until": "2030-01-01T00:00:00Z"}],
)  # fmt: skip
def test_what_names_nothing_is_refused(workspace, receiver, api, body):
    webhook = hook(workspace, receiver.url())
    assert api("POST", f"/webhooks/{webhook.id}/replay", body).status_code == 422


def test_a_disabled_webhook_is_enabled_first(workspace, receiver, api):
    webhook = hook(workspace, receiver.url())
    subscribing.disable(workspace_id=workspace, webhook_id=webhook.id)
    since = (clock.now() - HOUR).isoformat()
    assert api("POST", f"/webhooks/{webhook.id}/replay", {"since": since}).status_code == 409


def test_replays_at_once_queue_once(workspace, receiver):
    import threading

    from django.db import connections

    webhook = hook(workspace, receiver.url())
    emit(workspace, 20)
    dispatch()
    counts = []

    def again() -> None:
        now = clock.now()
        try:
            counts.append(
                replaying.replay_range(
                    workspace_id=workspace, webhook_id=webhook.id, since=now - HOUR, until=now, failed_only=False
                )
            )
        finally:
            connections.close_all()

    threads = [threading.Thread(target=again) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts) == [0] * 5 + [21]
    dispatch()
    assert len(rows(status="delivered")) == 20 + 21


def test_an_ordered_endpoint_replays_in_order(workspace, receiver):
    webhook = hook(workspace, receiver.url(), ordered=True)
    emit(workspace, 5)
    dispatch()
    now = clock.now()
    replaying.replay_range(workspace_id=workspace, webhook_id=webhook.id, since=webhook.created_at, until=now)
    dispatch()
    ids = receiver.ids()
    assert ids[:5] == ids[5:]


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("replay_webhooks", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_command_counts_then_queues(workspace, receiver):
    webhook = hook(workspace, receiver.url())
    emit(workspace, 4)
    dispatch()
    options = ["--webhook", str(webhook.id), "--since", webhook.created_at.isoformat()]
    assert orjson.loads(command(*options, "--dry-run", "--json")) == {
        "webhook_id": str(webhook.id), "deliveries": 4, "dry_run": True
    }  # fmt: skip
    assert len(rows()) == 4
    assert command(*options, "--failed-only") == "0 deliveries queued."
    assert command(*options) == "4 deliveries queued."
    dispatch()
    assert len(receiver.requests) == 8


@pytest.mark.parametrize(
    "options",
    [["--since", "2030-01-01T00:00:00Z"], ["--since", "2030-01-01T00:00:00"], ["--since", "x"], []],
)
def test_the_command_refuses_in_a_sentence(workspace, options):
    with pytest.raises(CommandError):
        command("--webhook", "00000000-0000-4000-8000-000000000009", *options)


def test_old_attempts_are_forgotten_and_deliveries_stay(workspace, receiver):
    hook(workspace, receiver.url())
    emit(workspace, 3)
    dispatch()
    with in_all_workspaces("test"):
        oldest = WebhookAttempt.objects.order_by("id").first()
    as_owner("UPDATE webhooks_webhookattempt SET at = at - interval '31 days' WHERE id = %s", oldest.id)
    assert pruning.prune_attempts(older_than=timedelta(days=30)) == 1
    assert pruning.prune_attempts(older_than=timedelta(days=30)) == 0
    with in_all_workspaces("test"):
        assert WebhookAttempt.objects.count() == 2
    assert len(rows(status="delivered")) == 3


def test_the_task_keeps_what_the_setting_says(workspace, receiver, settings):
    from webhooks.tasks import prune

    settings.WEBHOOK_ATTEMPT_KEEP_DAYS = 0
    webhook = hook(workspace, receiver.url())
    emit(workspace)
    dispatch()
    prune(unknown="ignored")
    with in_all_workspaces("test"):
        assert not WebhookAttempt.objects.exists()
    assert fresh(webhook).state == "active"
    assert Api(workspace)("GET", f"/webhook-deliveries/{rows()[0].id}").json()["attempt_log"] == []

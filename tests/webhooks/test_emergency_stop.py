"""The emergency stop and webhooks: nothing is sent from a stopped workspace, unless its settings spare them (M7)."""

import os
import signal
import time

import pytest

from kernel import nudge
from tenancy.services import describing, stopping
from tests.webhooks.conftest import Running, as_owner, emit, hook, new_workspace, rows
from tests.webhooks.nursery import nursery
from tests.webhooks.receiver import Receiver


def _caught(point: str, rounds: int, workspace, receiver: Receiver) -> None:
    hook(workspace, receiver.url("/hook"), slugs=["workspace.provisioned"])
    with nursery(WEBHOOK_POLL_SECONDS="0.05") as frozen:
        for _ in range(rounds):
            emit(workspace)
            child = frozen.freeze_at(point)
            stopping.stop(workspace_id=workspace, reason="a drill")
            before = len(receiver.requests)
            nudge.client().flushdb()
            # What was claimed with it comes to the same point, and is frozen and woken in its turn.
            for _ in range(6 + rounds):
                os.kill(child, signal.SIGCONT)
                time.sleep(0.05)
            assert len(receiver.requests) == before, point
            os.kill(child, signal.SIGTERM)
            assert frozen.outcome() == 0
            stopping.release(workspace_id=workspace)
            as_owner("UPDATE webhooks_webhookdelivery SET lease_until = NULL WHERE status = 'pending'")
    with Running() as last:
        last.until(lambda: len(rows(status="delivered")) == rounds, seconds=30)
    assert len(receiver.requests) == rounds
    assert all(row.attempts == 1 for row in rows(status="delivered"))


@pytest.mark.parametrize("point", ["webhook.claimed", "webhook.before_send"])
def test_nothing_is_sent_after_a_stop(workspace, receiver, point, cases):
    _caught(point, 4, workspace, receiver)
    cases("M7", 4)


@pytest.mark.deep
@pytest.mark.parametrize("point", ["webhook.claimed", "webhook.before_send"])
def test_nothing_is_sent_after_twenty_stops(workspace, receiver, point, cases):
    _caught(point, 20, workspace, receiver)
    cases("M7", 20)


def test_a_stop_holds_one_workspace_and_its_settings_may_spare_webhooks(workspace, receiver):
    other = new_workspace()
    hook(workspace, receiver.url("/ours"))
    hook(other, receiver.url("/theirs"))
    stopping.stop(workspace_id=workspace, reason="a drill")
    for each in (workspace, other):
        emit(each)
    with Running() as running:
        running.until(lambda: len(receiver.ids("/theirs")) == 1)
        time.sleep(0.3)
        assert receiver.ids("/ours") == []
        describing.decide(workspace_id=workspace, changes={"stop_spares_webhooks": True})
        running.until(lambda: len(receiver.ids("/ours")) == 1)
        describing.decide(workspace_id=workspace, changes={"stop_spares_webhooks": False})
        emit(workspace)
        time.sleep(0.5)
        assert len(receiver.ids("/ours")) == 1
        stopping.release(workspace_id=workspace)
        running.until(lambda: len(receiver.ids("/ours")) == 2)

"""Two schedulers at once, one killed, one stopped and let go on (I2): each job is sent once for each slot of time."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from django.conf import settings
from django.db import connections

from config.beat import Slots, slot_of
from config.schedule import beat_schedule
from kernel import nudge, periodic
from kernel.models import PeriodicJob
from tests.architecture.code import ROOT
from tests.kernel.beating import JOBS

QUEUE = "tests-beat"
TICKS = 60


@pytest.fixture
def beats(db):
    running: list[subprocess.Popen] = []
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test", "LOG_LEVEL": "ERROR"}

    def start() -> subprocess.Popen:
        argv = [sys.executable, "-m", "tests.kernel.beating", QUEUE]
        running.append(subprocess.Popen(argv, cwd=ROOT, env=environment))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


def sent() -> Counter[tuple[str, int]]:
    """How often each job was sent for each slot, by the messages in the broker."""
    found: Counter[tuple[str, int]] = Counter()
    for raw in nudge.client().lrange(QUEUE, 0, -1):
        headers = json.loads(raw)["headers"]
        found[(headers["task"], headers["slot"])] += 1
    return found


def until(count: int, *, seconds: float = 60) -> Counter[tuple[str, int]]:
    ends = time.monotonic() + seconds
    while len(found := sent()) < count:
        assert time.monotonic() < ends, f"{len(found)} of {count} slots"
        time.sleep(0.05)
    return found


def test_two_schedulers_send_each_job_once_for_each_slot(beats, cases):
    first, second = beats(), beats()
    until(16)
    os.kill(first.pid, signal.SIGSTOP)
    stopped_at = len(sent())
    until(stopped_at + 12)
    os.kill(first.pid, signal.SIGCONT)
    until(stopped_at + 24)
    second.kill()
    second.wait()
    killed_at = len(sent())
    found = until(max(TICKS, killed_at + 8))
    assert set(found.values()) == {1}
    assert {task for task, _ in found} == {f"tests.{name}" for name in JOBS}
    cases("I2", len(found))


def test_of_many_who_claim_a_slot_one_has_it_and_slots_only_rise(db):
    won: list[int] = []
    start = threading.Barrier(16)

    def claim() -> None:
        start.wait()
        won.extend(slot for slot in range(20) if periodic.claim(name="job", slot=slot))
        connections.close_all()

    threads = [threading.Thread(target=claim) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == len(set(won))
    assert PeriodicJob.objects.get().slot == 19
    assert not periodic.claim(name="job", slot=18)
    assert periodic.claim(name="other", slot=0)


def test_every_job_is_cut_into_slots():
    """A job with a schedule of another kind would have slots of its own in each scheduler."""
    for name, entry in beat_schedule(sweep=settings.SWEEP_SECONDS).items():
        when = entry["schedule"]
        assert isinstance(when, Slots) or hasattr(when, "minute"), name
        assert slot_of(when, 3600 * 24) > slot_of(when, 0)

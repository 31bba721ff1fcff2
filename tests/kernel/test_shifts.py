"""Every task that works through rows ends in time, wakes itself when rows are left, and takes none while its worker stops."""

import pytest

from agents.services import leasing
from agents.tasks import run_executions
from files.services import scanning
from files.tasks import scan_files
from inbox.services import ingesting, sending, tending, trying
from inbox.tasks import check_connections, process_messages, send_mail, wake_threads
from kernel import nudge, outbox, shifts
from kernel.tasks import drain_outbox
from tenancy.services import mailing
from tenancy.tasks import send_letters

# Each task, and where it takes the next piece of its work.
LOOPS = [
    (process_messages, ingesting, "process_due"),
    (send_mail, sending, "send_due"),
    (check_connections, trying, "check_due"),
    (wake_threads, tending, "wake_due"),
    (drain_outbox, outbox, "drain"),
    (scan_files, scanning, "scan_due"),
    (send_letters, mailing, "_take"),
    (run_executions, leasing, "claim"),
]


class Endless(Exception):
    """More was taken than there was time for."""


@pytest.fixture
def woken(monkeypatch):
    tasks: list[str] = []
    monkeypatch.setattr(nudge, "wake", tasks.append)
    return tasks


@pytest.fixture(params=LOOPS, ids=lambda loop: loop[0].name)
def loop(request, monkeypatch):
    """A task whose work never ends, and what it has taken of it."""
    task, module, name = request.param
    taken: list[int] = []

    def endless(*_: object, **__: object) -> int:
        taken.append(1)
        if len(taken) > 3:
            raise Endless
        return 1

    monkeypatch.setattr(module, name, endless)
    monkeypatch.setattr(mailing, "_send", lambda _: 1)
    monkeypatch.setattr("agents.services.executing.work", lambda *_, **__: None)
    return task, taken


def test_a_task_without_an_end_ends_in_time_and_wakes_itself(loop, woken, monkeypatch):
    task, taken = loop
    ticks = iter(range(0, 1000, 25))
    monkeypatch.setattr(shifts.time, "monotonic", lambda: float(next(ticks)))
    task()
    assert 1 <= len(taken) <= 3
    assert woken == [task.name]


def test_a_task_takes_nothing_once_its_worker_is_to_stop(loop, woken, monkeypatch):
    task, taken = loop
    shifts.stop()
    try:
        task()
    finally:
        shifts._stopping.clear()
    assert (taken, woken) == ([], [])


@pytest.mark.parametrize(("threads", "places"), [(1, 1), (2, 1), (4, 2), (5, 2), (8, 4)])
def test_half_of_a_workers_threads_may_be_with_others_and_who_found_no_place_is_woken(woken, threads, places):
    shifts._places.set_up(threads)
    try:
        inside = [shifts.shift(f"tests.inside{number}", outside=True) for number in range(places)]
        assert all(each.__enter__()() for each in inside)
        with shifts.shift("tests.late", outside=True) as keep_going, shifts.shift("tests.ours") as ours:
            assert (keep_going(), ours()) == (False, True)
        assert woken == []
        for each in inside:
            each.__exit__(None, None, None)
        assert woken == ["tests.late"]
        with shifts.shift("tests.late", outside=True) as keep_going:
            assert keep_going()
    finally:
        shifts._places.set_up(shifts._THREADS)

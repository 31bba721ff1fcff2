"""Names whose servers are dead or slow: whoever is called by another name notices nothing."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from kernel import names
from tests.webhooks.conftest import dispatch, emit, hook, rows

WORLD = ".example.com"


class World:
    """The system's look-up for names of ours, which may hang, fail or change; others it passes on."""

    def __init__(self) -> None:
        self.hanging: set[str] = set()
        self.failing: set[str] = set()
        self.address = "127.0.0.1"
        self.asked: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most_at_once = 0
        self.end = threading.Event()
        self._ask = socket.getaddrinfo

    def getaddrinfo(self, host, port, *more, **options):
        name = host.decode() if isinstance(host, bytes) else host
        if not name or not name.endswith(WORLD):
            return self._ask(host, port, *more, **options)
        self.asked[name] += 1
        self.at_once[name] += 1
        self.most_at_once = max(self.most_at_once, self.at_once[name])
        try:
            if name in self.hanging:
                self.end.wait(60)
            if name in self.hanging or name in self.failing:
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        finally:
            self.at_once[name] -= 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.address, port))]


@pytest.fixture
def world(monkeypatch) -> Iterator[World]:
    made = World()
    monkeypatch.setattr(socket, "getaddrinfo", made.getaddrinfo)
    monkeypatch.setattr(names, "_FRESH_SECONDS", 0.1)
    yield made
    made.end.set()


def named(workspace, receiver, name: str):
    return hook(workspace, f"http://{name}:{receiver.port}/{name}")


def test_names_that_hang_cost_the_others_nothing(workspace, receiver, world):
    """More of them than a machine has processors, and each with more than one delivery."""
    world.hanging = {f"dead-{n}{WORLD}" for n in range(70)}
    for name in world.hanging:
        named(workspace, receiver, name)
    live = [named(workspace, receiver, f"live-{n}{WORLD}") for n in range(5)]
    emit(workspace, 3)
    dispatch(lambda: len(rows(status="delivered")) == 15 and len(rows(last_error__contains="No complete")) >= 140)
    for webhook in live:
        assert {(row.status, row.attempts) for row in rows(webhook=webhook)} == {("delivered", 1)}
    assert {world.asked[name] for name in world.hanging} == {1}


@pytest.mark.parametrize("trouble", ["hanging", "failing"])
def test_the_last_answer_serves_while_a_new_one_does_not_come(workspace, receiver, world, trouble):
    name = f"live{WORLD}"
    named(workspace, receiver, name)
    emit(workspace)

    def turn() -> bool:
        """One delivery after the other, with the trouble from the second on."""
        done = rows(status="delivered")
        if len(done) == len(rows()) < 8:
            setattr(world, trouble, {name})
            time.sleep(0.15)
            emit(workspace)
        return len(done) == 8

    dispatch(turn)
    assert {row.attempts for row in rows()} == {1}
    assert world.asked[name] == 2 if trouble == "hanging" else world.asked[name] > 2
    assert world.most_at_once == 1


@pytest.mark.parametrize("change", ["fails for long", "leads to a closed place"])
def test_the_last_answer_serves_no_longer_than_it_may(workspace, receiver, world, monkeypatch, change):
    name = f"live{WORLD}"
    named(workspace, receiver, name)
    emit(workspace)

    def turn() -> bool:
        if len(rows(status="delivered")) == len(rows()) == 1:
            if change == "fails for long":
                monkeypatch.setattr(names, "_GOOD_SECONDS", 0.1)
                world.failing = {name}
            world.address = "10.0.0.7"
            time.sleep(0.3)
            emit(workspace)
        return bool(rows(status="pending", attempts=1))

    dispatch(turn)
    (row,) = rows(status="pending")
    assert ("is not known" if change == "fails for long" else "not public") in row.last_error
    assert len(receiver.requests) == 1

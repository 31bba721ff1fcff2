"""Consumers for one test, processes that can be killed, and a table where effects can be counted."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections

from kernel import claims, outbox
from kernel.events import DomainEvent
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, unit_of_work
from tenancy.events import WorkspaceProvisioned


@pytest.fixture
def consumers(monkeypatch) -> Callable[..., Callable[[outbox.Handler], outbox.Handler]]:
    """`outbox.consume`, in a world where nobody else listens; what is subscribed is forgotten afterwards."""
    monkeypatch.setattr(outbox, "_consumers", {})
    return outbox.consume


def fact(aggregate: UUID, number: int = 0) -> DomainEvent:
    """A fact about an aggregate; its number travels in the payload."""
    return WorkspaceProvisioned(workspace_id=aggregate, external_id=uuid4(), ref=str(number))


def emit(aggregate: UUID, *numbers: int) -> None:
    with unit_of_work():
        for number in numbers:
            outbox.emit(fact(aggregate, number))


def stored(**conditions: object) -> list[OutboxEvent]:
    with in_all_workspaces("a test looks at everything"):
        return list(OutboxEvent.objects.filter(**conditions).order_by("id"))


def make_due() -> None:
    """As if the backoff were over."""
    with in_all_workspaces("a test turns the clock"), connection.cursor() as cursor:
        cursor.execute("UPDATE kernel_outboxevent SET available_at = now() WHERE published_at IS NULL")


def drain_all(limit: int = 200) -> None:
    while outbox.drain(limit=limit):
        pass


@pytest.fixture
def effects(db) -> Iterator[None]:
    """Two tables of no workspace: what writers committed, and what consumers did about it."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE test_written (aggregate uuid, number bigint)")
        cursor.execute(
            "CREATE TABLE test_effect (n bigserial, consumer text, event_id uuid, aggregate uuid, number bigint)"
        )
        cursor.execute("CREATE SEQUENCE test_number")
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE test_written, test_effect; DROP SEQUENCE test_number")


def note(consumer: str, event: claims.Delivered) -> None:
    """The effect of a consumer, countable."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO test_effect (consumer, event_id, aggregate, number) VALUES (%s, %s, %s, %s)",
            [consumer, event.event_id, event.workspace_id, int(event.payload["ref"])],
        )


def rows(statement: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


class Children:
    """Forked processes with connections of their own."""

    def __init__(self) -> None:
        self.alive: dict[int, Callable[[], None]] = {}

    def start(self, work: Callable[[], None]) -> int:
        connections.close_all()  # a socket must not be shared
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            with suppress(BaseException):
                try:
                    work()
                    code = 0
                except BaseException:
                    traceback.print_exc()
            os._exit(code)
        self.alive[pid] = work
        return pid

    def kill(self, pid: int) -> Callable[[], None]:
        """End a process as the kernel would; what it was doing."""
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return self.alive.pop(pid)

    def died(self) -> list[int]:
        """Those that ended by themselves since the last call."""
        found = [pid for pid in self.alive if os.waitpid(pid, os.WNOHANG)[0]]
        for pid in found:
            del self.alive[pid]
        return found

    def wait(self, pids: list[int], seconds: float) -> None:
        end = time.monotonic() + seconds
        while set(pids) & set(self.alive):
            assert time.monotonic() < end, "a child did not finish"
            self.died()
            time.sleep(0.01)


@pytest.fixture
def children(db) -> Iterator[Children]:
    made = Children()
    yield made
    for pid in list(made.alive):
        made.kill(pid)

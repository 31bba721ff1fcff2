"""Clients of a pooled database, in a process of their own: each looks into two workspaces by turns and does whatever ends badly.

    python -m tests.isolation.pooled (threads | tasks) TURNS WORKSPACE WORKSPACE

Prints a line of JSON now and then, since it may be killed: {"looks": …, "foreign": [what was seen of another workspace]}.
"""

import asyncio
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import django
import orjson

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
django.setup()

from asgiref.sync import sync_to_async  # noqa: E402
from django.db import DatabaseError, connection  # noqa: E402

from kernel.transactions import in_workspace, unit_of_work  # noqa: E402

CLIENTS = 8
TABLES = ("inbox_thread", "inbox_entry", "inbox_email", "webhooks_webhook", "agents_agent")


@dataclass
class Tally:
    """What all clients of this process have seen."""

    looks: int = 0
    turns: int = 0
    foreign: list[Any] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def add(self, looks: int) -> None:
        with self.lock:
            self.looks += looks
            self.turns += 1
            if self.turns % 20 == 0:
                self.tell()

    def tell(self) -> None:
        print(orjson.dumps({"looks": self.looks, "foreign": self.foreign}).decode(), flush=True)


TALLY = Tally()


class _Mishap(Exception):
    """What a view or a task may raise in the middle of its work."""


def turn(place: UUID, other: UUID, number: int) -> None:
    """A unit of work that sees its workspace only, whatever the one before it on this session was."""
    looks = 0
    try:
        with in_workspace(place):
            looks += _look(place)
            if number % 5 == 1:
                raise _Mishap
            if number % 5 == 2:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1 / 0")
            if number % 5 == 3:
                with in_workspace(other):
                    looks += _look(other)
                looks += _look(place)
    except (_Mishap, DatabaseError):
        pass
    if number % 5 == 4:
        with unit_of_work():
            looks += _look(None)
        looks += _look(None)
    if number % 50 == 0:
        connection.close()
    TALLY.add(looks)


def _look(place: UUID | None) -> int:
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT DISTINCT workspace_id FROM {table}")
            seen = [row[0] for row in cursor.fetchall()]
            if seen != ([place] if place else []):
                TALLY.foreign.append([table, place, seen])
    return len(TABLES)


async def _tasks(turns: int, places: tuple[UUID, UUID]) -> None:
    async def client(start: int) -> None:
        for number in range(turns):
            one, other = places if (start + number) % 2 else reversed(places)
            await sync_to_async(turn, thread_sensitive=False)(one, other, number)

    await asyncio.gather(*(client(start) for start in range(CLIENTS)))


def _threads(turns: int, places: tuple[UUID, UUID]) -> None:
    def client(start: int) -> None:
        for number in range(turns):
            one, other = places if (start + number) % 2 else reversed(places)
            turn(one, other, number)
        connection.close()

    clients = [threading.Thread(target=client, args=(start,)) for start in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()


def main(way: str, turns: str, *places: str) -> None:
    one, other = map(UUID, places)
    if way == "tasks":
        asyncio.run(_tasks(int(turns), (one, other)))
    else:
        _threads(int(turns), (one, other))
    TALLY.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])

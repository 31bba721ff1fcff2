"""Row 5: lists and conversations through the API at three sizes, a thousand times apart, beside the bare query."""

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median, quantiles
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg

from tests.bench.places import settle
from tests.bench.report import Figure, Run
from tests.bench.scratch import as_owner, pointing_to, runtime_url

_LOOSEN = """
DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
        WHERE contype = 'f' AND conrelid IN ('inbox_thread'::regclass, 'inbox_entry'::regclass)
    LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname); END LOOP;
END $$;
CREATE TABLE bench_place AS SELECT row_number() OVER (ORDER BY address) - 1 AS n, id AS inbox_id, workspace_id
FROM inbox_inbox;
"""
# Threads of ten entries, spread over the workspaces.
_GROW = """
WITH made AS (
    INSERT INTO inbox_thread (id, workspace_id, inbox_id, provider_thread_key, subject, status, last_entry_seq,
        entry_count, preview)
    SELECT md5('thread' || g)::uuid, p.workspace_id, p.inbox_id, 'bench:' || g, 'Order ' || g || ' has not arrived',
        CASE WHEN g / %(places)s %% 10 < 7 THEN 'open' ELSE 'closed' END, g * 10 + 9, 10, repeat('a preview of it ', 9)
    FROM generate_series(%(start)s::bigint, %(stop)s::bigint - 1) g JOIN bench_place p ON p.n = g %% %(places)s
    RETURNING id)
INSERT INTO inbox_entry (id, workspace_id, seq, inbox_id, thread_id, direction, provider_entry_key, author_kind,
    author_label, subject, body_text, extracted_text, thread_decision)
SELECT md5('entry' || g)::uuid, p.workspace_id, g, p.inbox_id, md5('thread' || g / 10)::uuid, 'inbound', 'bench:' || g,
    'contact', 'Ada Lovelace', 'Order has not arrived', repeat(md5(g::text) || ' ', 12), repeat(md5(g::text) || ' ', 6),
    '{"rule": "in_reply_to", "confidence": "high", "evidence": {}}'
FROM generate_series(%(start)s::bigint * 10, %(stop)s::bigint * 10 - 1) g JOIN bench_place p ON p.n = g / 10 %% %(places)s
"""
# Every workspace's first thread gets a hundred entries more, or a thousand.
_LONG = """
INSERT INTO inbox_entry (id, workspace_id, seq, inbox_id, thread_id, direction, provider_entry_key, author_kind,
    author_label, subject, body_text, extracted_text, thread_decision)
SELECT md5('long' || g)::uuid, p.workspace_id, -1 - g, p.inbox_id, md5('thread' || p.n)::uuid, 'inbound', 'long:' || g,
    'contact', 'Ada Lovelace', 'Order has not arrived', repeat(md5(g::text) || ' ', 30), '', '{}'
FROM generate_series(0, 9999) g JOIN bench_place p ON p.n = g %% %(places)s
"""

_THREADS = """SELECT id, created_at, updated_at, inbox_id, subject, status, first_unanswered_inbound_at, last_entry_at,
    entry_count, preview, last_entry_seq FROM inbox_thread WHERE workspace_id = %(ws)s {more}
ORDER BY last_entry_seq DESC, id DESC LIMIT 26"""
_ENTRIES = """SELECT e.*, a.id FROM (SELECT * FROM inbox_entry WHERE thread_id = %(thread)s ORDER BY seq DESC LIMIT 51) e
LEFT JOIN inbox_attachment a ON a.entry_id = e.id"""


@dataclass(frozen=True)
class Read:
    """An address of the API, and the query that answers it at the least."""

    name: str
    path: str
    query: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Took:
    """Milliseconds of the whole call (median, and what 19 of 20 calls stay below), of its CPU and of the bare query
    (medians), and the number of statements."""

    whole: float
    slow: float
    cpu: float
    bare: float
    statements: int


def measure(run: Run) -> list[Figure]:
    sizes = [run.size(1_000, 10_000), run.size(10_000, 1_000_000), run.size(100_000, 10_000_000)]
    places = run.size(1, 10)  # enough threads in each for whole pages at the smallest size
    with ExitStack() as stack:
        smallest = stack.enter_context(run.scratch.copy(f"reads{sizes[0]}"))
        workspace, _ = settle(places)[0]
        with as_owner(smallest) as owner:
            owner.execute(_LOOSEN.encode())
            owner.execute(_LONG.encode(), {"places": places})
        key = _key(workspace)
        databases = {sizes[0]: smallest}
        _seed(smallest, 0, sizes[0], places)
        for start, stop in itertools.pairwise(sizes):
            run.say(f"row 5, {stop:,} entries")
            databases[stop] = stack.enter_context(run.scratch.copy(f"reads{stop}", of=f"reads{start}"))
            _seed(databases[stop], start, stop, places)
        found = _times(run, databases, workspace, key)
    return [line for name in found[sizes[0]] for line in _lines(name, sizes, found)]


def _lines(name: str, sizes: Sequence[int], found: dict[int, dict[str, Took]]) -> list[Figure]:
    """Growth of the whole call, and its time beside the bare query at the largest size."""
    small, middle, large = sizes
    first, before, after = (found[size][name] for size in sizes)
    growth = f"bare query {before.bare:.2f} → {after.bare:.2f} ms, {before.statements} → {after.statements} statements"
    return [
        Figure(
            "5", f"{name}: {large:,} entries", "ms", after.whole, f"{middle:,} entries", before.whole,
            after.whole / before.whole, 1.5, 1.25, True, growth,
        ),
        Figure(
            "5", f"{name}: {large:,} entries, 95 %", "ms", after.slow, f"{small:,} entries, 95 %", first.slow,
            after.slow / first.slow, 1.5, 1.5, True, f"medians {first.whole:.2f} → {after.whole:.2f} ms",
        ),
        Figure(
            "5", f"{name}: whole call", "ms", after.whole, "bare query", after.bare, after.whole / after.bare, 6.0, 6.0,
            True, f"CPU here {after.cpu:.1f} ms",
        ),
    ]  # fmt: skip


def _seed(database: str, start: int, stop: int, places: int) -> None:
    with as_owner(database) as owner:
        owner.execute("SET synchronous_commit = off")
        for at in range(start // 10, stop // 10, 20_000):
            owner.execute(_GROW.encode(), {"start": at, "stop": min(at + 20_000, stop // 10), "places": places})
        owner.execute("VACUUM ANALYZE inbox_thread, inbox_entry")


def _key(workspace: UUID) -> str:
    from tenancy.services import keys

    return keys.issue(workspace_id=workspace, name="bench", scopes=["*"])[1]


def _reads(database: str, workspace: UUID) -> list[Read]:
    from inbox.models import Thread
    from kernel.api import paging
    from kernel.transactions import in_workspace

    with in_workspace(workspace):
        rows = Thread.objects.order_by("-last_entry_seq")
        middle = rows[rows.count() // 2]
        cursors = [
            paging.write(
                middle, paging.place_of(request, "last_entry_seq", falling=True), "last_entry_seq", backwards=False
            )
            for request in (_request({}), _request({"status": "open"}))
        ]
    with as_owner(database) as owner:
        row = owner.execute(
            "SELECT md5('thread' || n)::uuid FROM bench_place WHERE workspace_id = %s", [workspace]
        ).fetchone()
    assert row is not None
    thread = row[0]
    deep = {"ws": workspace, "seq": middle.last_entry_seq}
    of_all, of_open = "AND merged_into_id IS NULL", "AND merged_into_id IS NULL AND status = 'open'"
    below = "AND last_entry_seq < %(seq)s"
    threads = "/api/v1/threads"
    return [
        Read("list, page 1", threads, _THREADS.format(more=of_all), {"ws": workspace}),
        Read("list of open, page 1", f"{threads}?status=open", _THREADS.format(more=of_open), {"ws": workspace}),
        Read("list, half-way down", f"{threads}?cursor={cursors[0]}", _THREADS.format(more=of_all + " " + below), deep),
        Read("open, half-way down", f"{threads}?status=open&cursor={cursors[1]}",
             _THREADS.format(more=of_open + " " + below), deep),
        Read("conversation, last 50", f"{threads}/{thread}/entries?limit=50", _ENTRIES, {"thread": thread}),
    ]  # fmt: skip


def _request(query: dict[str, str]) -> Any:
    """What a cursor is made for: an address with its filters."""
    return SimpleNamespace(path="/api/v1/threads", query_params=query)


class Sample:
    """What was measured of one read in one database."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.ours: list[float] = []
        self.bare: list[float] = []
        self.cpu: list[float] = []
        self.statements = 0

    def take(self, client: Any, bare: psycopg.Connection, calls: int) -> None:
        """Some calls through the API and as many bare queries, after a few that only warm up."""
        ask, fetch = _asking(client, self.read), _fetching(bare, self.read)
        for _ in range(5):
            ask(), fetch()
        self.bare += [_milliseconds(fetch) for _ in range(calls)]
        began = time.process_time()
        self.ours += [_milliseconds(ask) for _ in range(calls)]
        self.cpu.append((time.process_time() - began) / calls * 1000)
        self.statements = _statements(ask)

    def took(self) -> Took:
        slow = quantiles(self.ours, n=20)[-1]
        return Took(median(self.ours), slow, median(self.cpu), median(self.bare), self.statements)


def _times(run: Run, databases: dict[int, str], workspace: UUID, key: str) -> dict[int, dict[str, Took]]:
    """Each read through the API and bare, at each size in turns: the machine's own moods meet all of them alike."""
    from django.test import Client

    client = Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {key}"})
    samples: dict[int, list[Sample]] = {}
    for number in range(run.size(2, 10)):
        run.say(f"row 5, round {number + 1}")
        for size, database in databases.items():
            with (
                pointing_to(database),
                psycopg.connect(runtime_url(database), autocommit=True, prepare_threshold=2) as bare,
            ):
                bare.execute("SELECT set_config('app.workspace_id', %s, false)", [str(workspace)])
                if size not in samples:
                    samples[size] = [Sample(read) for read in _reads(database, workspace)]
                for sample in samples[size]:
                    sample.take(client, bare, run.size(10, 30))
    return {size: {sample.read.name: sample.took() for sample in taken} for size, taken in samples.items()}


def _asking(client: Any, read: Read) -> Callable[[], None]:
    def ask() -> None:
        answer = client.get(read.path)
        assert answer.status_code == 200, answer.content[:200]

    return ask


def _fetching(bare: psycopg.Connection, read: Read) -> Callable[[], None]:
    def fetch() -> None:
        assert bare.execute(read.query.encode(), read.values).fetchall()

    return fetch


def _milliseconds(action: Callable[[], None]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def _statements(ask: Callable[[], None]) -> int:
    from django.db import connection

    count = 0

    def counting(execute: Any, *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    with connection.execute_wrapper(counting):
        ask()
    return count

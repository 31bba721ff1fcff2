"""Where the time of an ingested mail goes: microseconds by step and by statement, in one process."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from tests.bench.bound import Bound
from tests.bench.crew import Crew
from tests.bench.mails import Writer
from tests.bench.places import packed, settle
from tests.bench.report import Figure, Run

# (module, name, label); a step inside another is counted in both.
_STEPS = (
    ("inbox.services.accepting", "accept", "accept, whole"),
    ("inbox.services.accepting", "_wake", "accept: wake-up by Redis"),
    ("inbox.services.ingesting", "_claim", "claim of a batch"),
    ("inbox.mime.child.ParserPool", "parse", "parse in the child, with both pipes"),
    ("inbox.services.ingesting", "_targets", "targets of the message"),
    ("inbox.services.ingesting", "_own_addresses", "which addresses are ours"),
    ("inbox.services.filing", "file", "filing.file, whole"),
    ("inbox.services.filing", "_judge", "filing: class"),
    ("inbox.queries.threading", "decide", "filing: decide the thread"),
    ("inbox.services.filing", "_content", "filing: content"),
    ("inbox.services.filing", "_entry", "filing: entry"),
)
_WORDS = (
    "inbox_accept_v1", "inbox_file_v1", "WITH RECURSIVE found", "set_config", "UPDATE inbox_inboundmessage",
    'FROM "inbox_email"', 'FROM "inbox_inbox"',
)  # fmt: skip


class Ledger:
    """Wall and CPU seconds, and counts, by label."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)
        self.server: dict[str, float] = defaultdict(float)
        self.counts: dict[str, int] = defaultdict(int)
        self.clock: Callable[[], float] = float

    @contextmanager
    def timing(self, label: str) -> Iterator[None]:
        began, cpu, server = time.perf_counter(), time.thread_time(), self.clock()
        try:
            yield
        finally:
            self.wall[label] += time.perf_counter() - began
            self.cpu[label] += time.thread_time() - cpu
            self.server[label] += self.clock() - server
            self.counts[label] += 1

    def wrapped(self, function: Any, label: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            with self.timing(label):
                return function(*arguments, **named)

        return call

    def statement(self, execute: Any, sql: Any, *rest: Any) -> Any:
        text = sql if isinstance(sql, str) else str(sql)
        word = next((word for word in _WORDS if word in text), text[:30])
        with self.timing(f"statement {word}"):
            return execute(sql, *rest)


def measure(run: Run) -> list[Figure]:
    """Informs only: no floor, no other side."""
    count = run.size(200, 1_000)
    ledger = Ledger()
    with run.scratch.copy("hot") as database:
        writer = Writer([address for _, address in settle()])
        with Crew.ours(1) as crew:
            path = packed(writer.openers(2), run.folder / "hot0")
            crew.order(do="accept", path=path)
            crew.order(do="process")
        bound = Bound(database, writer.batch(1, replies=1.0)[0])
        warm, hot = (packed(writer.batch(size), run.folder / f"hot{size}") for size in (50, count))
        _ingest(warm)
        with ExitStack() as stack:
            _instrument(stack, ledger)
            with ledger.timing("a mail, whole"):
                _ingest(hot)
        plain = _cpu_without_instruments(run, writer, count)
        statements = bound.call_times(count)
    lines = [Figure("hot", "CPU of this process, not instrumented", "µs", plain * 1e6)]
    for label, seconds in sorted(ledger.wall.items(), key=lambda item: -item[1]):
        here, server = (found[label] / count * 1e6 for found in (ledger.cpu, ledger.server))
        note = f"CPU here {here:,.0f}, server {server:,.0f} µs; {ledger.counts[label] / count:.2f} times a mail"
        lines.append(Figure("hot", label, "µs", seconds / count * 1e6, note=note))
    lines += [
        Figure("hot", f"one client of pgbench: {'accept' if 'accept' in text else 'file'}", "µs", value)
        for text, value in statements.items()
        if "_v1(" in text
    ]
    return lines


def _cpu_without_instruments(run: Run, writer: Writer, count: int) -> float:
    path = packed(writer.batch(count), run.folder / "plain")
    began = time.process_time()
    _ingest(path)
    return (time.process_time() - began) / count


def _server_clock() -> Callable[[], float]:
    """CPU seconds of the server process behind our connection; always 0 where that cannot be seen."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        path = f"/proc/{cursor.fetchone()[0]}/schedstat"
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return float
    return lambda: int(os.pread(descriptor, 64, 0).split()[0]) / 1e9


def _ingest(path: str) -> None:
    from tests.bench import worker

    worker.accept(path)
    worker.process()


def _instrument(stack: ExitStack, ledger: Ledger) -> None:
    from django.db import connection

    ledger.clock = _server_clock()
    for target, name, label in _STEPS:
        owner = _resolved(target)
        stack.enter_context(mock.patch.object(owner, name, ledger.wrapped(getattr(owner, name), label)))
    stack.enter_context(connection.execute_wrapper(ledger.statement))


def _resolved(target: str) -> Any:
    """A module, or a class in one."""
    from importlib import import_module

    home, _, last = target.rpartition(".")
    return getattr(import_module(home), last) if last[0].isupper() else import_module(target)

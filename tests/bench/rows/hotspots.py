"""Where the time of an ingested mail goes: microseconds by step and by statement, in one process."""

import time
from collections.abc import Iterator
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
    """Seconds and counts by label."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    @contextmanager
    def timing(self, label: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[label] = self.seconds.get(label, 0.0) + time.perf_counter() - began
            self.counts[label] = self.counts.get(label, 0) + 1

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
            began, cpu = time.perf_counter(), time.process_time()
            _ingest(hot)
            wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        statements = bound.call_times(count)
    lines = [Figure("hot", "wall clock of a mail", "µs", wall / count * 1e6, note=f"this process's CPU: {cpu / count * 1e6:,.0f} µs")]
    for label, seconds in ledger.seconds.items():
        note = f"{ledger.counts[label] / count:.2f} times a mail"
        lines.append(Figure("hot", label, "µs", seconds / count * 1e6, note=note))
    lines += [
        Figure("hot", f"one client of pgbench: {'accept' if 'accept' in text else 'file'}", "µs", value)
        for text, value in statements.items()
        if "_v1(" in text
    ]
    return lines


def _ingest(path: str) -> None:
    from tests.bench import worker

    worker.accept(path)
    worker.process()


def _instrument(stack: ExitStack, ledger: Ledger) -> None:
    from django.db import connection

    for target, name, label in _STEPS:
        owner = _resolved(target)
        stack.enter_context(mock.patch.object(owner, name, ledger.wrapped(getattr(owner, name), label)))
    stack.enter_context(connection.execute_wrapper(ledger.statement))


def _resolved(target: str) -> Any:
    """A module, or a class in one."""
    from importlib import import_module

    home, _, last = target.rpartition(".")
    return getattr(import_module(home), last) if last[0].isupper() else import_module(target)

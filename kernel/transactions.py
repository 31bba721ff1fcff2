"""Units of work: one transaction, one workspace scope, and what must happen just before its commit.

Effects outside the database never run inside; they are rows (outbox, deliveries) that workers pick up.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from kernel import context
from kernel.context import Scope
from kernel.crash import crash_point


class NoTransaction(RuntimeError):
    """Something that must commit with its cause was called outside a unit of work."""


@dataclass(frozen=True)
class Call:
    """A function of the database, in SQL, with its parameters, and the scope that it needs."""

    sql: str
    parameters: list[Any]
    scope: Scope


Flusher = Callable[[list[object]], Iterable[Call]]

# What a first question may refer to as `scope.workspace`; the policies of the tables go by all three.
_SCOPE = """
SELECT set_config('app.workspace_id', %s, true) AS workspace, set_config('app.all_workspaces', %s, true),
    set_config('app.inbox_ids', %s, true)
"""


@dataclass
class UnitOfWork:
    """What is gathered until the outermost unit commits, and the scope that the connection now has."""

    applied: Scope | None = None
    buckets: dict[str, list[object]] = field(default_factory=dict)
    flushers: dict[str, tuple[int, Flusher]] = field(default_factory=dict)

    def add(self, bucket: str, item: object, *, rank: int, flush: Flusher) -> None:
        """Keep `item` until just before commit; `flush` then makes calls of the bucket's items, lowest rank first."""
        self.buckets.setdefault(bucket, []).append(item)
        self.flushers[bucket] = (rank, flush)

    def marks(self) -> dict[str, int]:
        return {name: len(items) for name, items in self.buckets.items()}

    def rewind(self, marks: dict[str, int]) -> None:
        """Forget what was gathered since `marks`: its savepoint was rolled back."""
        for name, items in self.buckets.items():
            del items[marks.get(name, 0) :]

    def flush(self) -> None:
        """Everything that was gathered, in one statement where one scope is enough for it."""
        calls: list[Call] = []
        for name in sorted(self.flushers, key=lambda key: self.flushers[key][0]):
            items, self.buckets[name] = self.buckets[name], []
            if items:
                calls += self.flushers[name][1](items)
        for scope, together in groupby(calls, key=self._scope_of):
            some = list(together)
            with joining(scope), connection.cursor() as cursor:
                crash_point("unit.flushing")
                cursor.execute(
                    f"SELECT {', '.join(call.sql for call in some)}",
                    [parameter for call in some for parameter in call.parameters],
                )
                crash_point("unit.flushed")

    def _scope_of(self, call: Call) -> Scope:
        """The present one, if it shows what the call needs."""
        return self.applied if self.applied is not None and self.applied.is_all else call.scope

    def apply(self, scope: Scope | None) -> None:
        """Tell the database which rows are in sight, for this transaction only (nothing leaks through a pool)."""
        if scope == self.applied:
            return
        with connection.cursor() as cursor:
            cursor.execute(_SCOPE, _settings(scope))
        self.applied = scope

    def ask_first(self, scope: Scope, function: str, parameters: list[Any]) -> tuple[Any, ...] | None:
        """Apply a scope and call a function within it, in one journey; its first row. What it asks for the workspace it
        takes from `scope.workspace`, and so it comes second."""
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT answer.* FROM ({_SCOPE} OFFSET 0) scope CROSS JOIN LATERAL {function} answer",  # noqa: S608
                [*_settings(scope), *parameters],
            )
            self.applied = scope
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row


def _settings(scope: Scope | None) -> list[Any]:
    workspace = str(scope.workspace_id) if scope and scope.workspace_id else ""
    narrow = scope.inbox_ids if scope else None
    # An array as PostgreSQL writes it: "{}" is none of them, an empty setting is no limit.
    inboxes = "" if narrow is None else "{" + ",".join(sorted(map(str, narrow))) + "}"
    return [workspace, "on" if scope and scope.is_all else "", inboxes]


_current: ContextVar[UnitOfWork | None] = ContextVar("unit_of_work", default=None)


def current_unit() -> UnitOfWork:
    """The running unit of work; raises NoTransaction outside one."""
    unit = _current.get()
    if unit is None or not connection.in_atomic_block:
        raise NoTransaction("This must run inside kernel.transactions.unit_of_work().")
    return unit


def after_commit(action: Callable[[], None]) -> None:
    """Run `action` once the transaction is committed; its failure is logged and hurts nobody else."""
    transaction.on_commit(action, robust=True)


@contextmanager
def unit_of_work(scope: Scope | None = None, *, applied: bool = True) -> Iterator[UnitOfWork]:
    """A transaction (a savepoint when nested) that sees the rows of `scope`, else of the surrounding scope.

    With `applied=False` it sees nothing new yet: the caller begins with `ask_first`.
    """
    outer = _current.get()
    unit = outer or UnitOfWork()
    before, marks = unit.applied, unit.marks()
    wanted = scope or context.scope.get()
    # Also true for a first unit inside a plain `atomic` block: its scope must not outlive it there.
    is_nested = connection.in_atomic_block
    unit_token, scope_token = _current.set(unit), context.scope.set(wanted)
    try:
        with transaction.atomic():
            if applied:
                unit.apply(wanted)
            yield unit
            if outer is None:
                unit.flush()
            if is_nested:
                unit.apply(before)
    except BaseException:
        # The rolled-back savepoint has restored the settings in the database; follow it here.
        unit.rewind(marks)
        unit.applied = before
        raise
    finally:
        context.scope.reset(scope_token)
        _current.reset(unit_token)


def in_workspace(workspace_id: UUID) -> AbstractContextManager[UnitOfWork]:
    """A unit of work that sees one workspace; inside work of the same workspace it sees no more than that does."""
    return unit_of_work(_within(workspace_id))


def joining(scope: Scope | UUID) -> AbstractContextManager[UnitOfWork]:
    """A unit of work for a single statement: the one that runs, without a savepoint, where it sees just that.

    A workspace's id means what `in_workspace` means. A savepoint costs two more questions, and takes back nothing here:
    when the statement fails, so does the work.
    """
    wanted = scope if isinstance(scope, Scope) else _within(scope)
    unit = _current.get()
    if unit is not None and connection.in_atomic_block and unit.applied == wanted:
        return nullcontext(unit)
    return unit_of_work(wanted)


def _within(workspace_id: UUID) -> Scope:
    around = context.scope.get()
    return around if around is not None and around.workspace_id == workspace_id else Scope(workspace_id=workspace_id)


def in_all_workspaces(reason: str) -> AbstractContextManager[UnitOfWork]:
    """A unit of work that sees every workspace; `reason` says why the fence is opened here."""
    return unit_of_work(Scope(workspace_id=None, reason=reason))

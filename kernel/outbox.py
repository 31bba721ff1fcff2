"""The transactional outbox: facts commit with their cause and reach each consumer's effect exactly once.

How it works, and why no event is skipped: the drain asks for rows that are *not published*, never for rows above a
high-water mark (identities are taken before commit, so a later id can be visible first). A batch is claimed by one row
of a ledger, under a lease, and that row is deleted in the transaction of the effects: who holds it owns the batch, and
the events themselves are written once, when they are published. Of each aggregate only the head, and what follows it,
is taken, so consumers see the facts of one thread in order.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import connection

from kernel import claims, clock, context, nudge
from kernel.claims import Claim, Delivered
from kernel.context import Actor, Scope
from kernel.events import DomainEvent
from kernel.transactions import Call, after_commit, current_unit, in_all_workspaces, unit_of_work

logger = logging.getLogger(__name__)

FLUSH_RANK = 10
_PRUNE_BATCH = 5_000


Handler = Callable[[Sequence[Delivered]], None]


@dataclass(frozen=True)
class Consumer:
    """A named subscriber. It gets one event at a time in the event's workspace, or many at once when `batch`."""

    name: str
    slugs: frozenset[str] | None
    handle: Handler
    batch: bool
    has_receipts: bool

    def wants(self, slug: str) -> bool:
        return self.slugs is None or slug in self.slugs


_consumers: dict[str, Consumer] = {}


def consume(
    *events: type[DomainEvent] | str, name: str, batch: bool = False, has_receipts: bool = True
) -> Callable[[Handler], Handler]:
    """Subscribe a handler: lower apps' facts by type, upper apps' by slug; no event at all means every fact.

    The handler runs in a savepoint of its own and only changes rows: work with the outside world is a row that a
    worker picks up. It may be called again for an event whose receipt did not commit; and, where it says that it needs
    no receipts because a unique row of its own for each event tells it the same, for any event.
    """
    slugs = frozenset(e if isinstance(e, str) else e.slug for e in events) or None

    def register(handler: Handler) -> Handler:
        _consumers[name] = Consumer(name, slugs, handler, batch, has_receipts)
        return handler

    return register


def consumers() -> list[Consumer]:
    """All subscribers, by name."""
    return [_consumers[name] for name in sorted(_consumers)]


def emit(event: DomainEvent) -> None:
    """Record a fact with the change that caused it. Refuses to run outside a unit of work."""
    current_unit().add("outbox", event, rank=FLUSH_RANK, flush=_write)


_APPEND = "kernel_outbox_append_v1(%s::jsonb, %s::uuid[], %s::text[], %s::int[], %s::text[], %s::text[])"


def _write(events: list[object]) -> Iterator[Call]:
    who = context.actor.get()
    cause = orjson.dumps(
        {"actor": {"kind": who.kind, "id": who.id, "label": who.label}, "request_id": context.request_id.get()}
    ).decode()
    rows = [
        (e.workspace_id, e.slug, e.version, e.aggregate_key, orjson.dumps(e.payload()).decode())
        for e in events
        if isinstance(e, DomainEvent)
    ]
    houses = {row[0] for row in rows}
    scope = Scope(houses.pop()) if len(houses) == 1 else Scope(None, "facts of several workspaces may commit together")
    columns = [list(column) for column in zip(*rows, strict=True)]
    yield Call(_APPEND, [cause, *columns], scope)
    after_commit(wake_drain)


def wake_drain() -> None:
    """Have the drain look soon; also for whoever writes facts in SQL of its own."""
    nudge.wake("kernel.tasks.drain_outbox")


# Who deletes the claim owns its events. A broken reference is its consumer's fault at once; deferred, it would fail the
# whole batch at commit.
_OWN = "SET CONSTRAINTS ALL IMMEDIATE; DELETE FROM kernel_outboxclaim WHERE id = %s"


def drain(*, limit: int | None = None) -> int:
    """Deliver one batch of fresh events, then one that failed before; the number taken. Safe to run in any number of
    processes at once.

    The suspect is claimed when its turn has come: claimed with the others, its lease could end while they are delivered,
    and it would be taken for the one whose worker died.
    """
    fresh, has_suspects = claims.fresh(limit=limit or settings.OUTBOX_BATCH)
    for claim in fresh:
        _deliver_claimed(claim)
    suspects = claims.suspect() if has_suspects else []
    for claim in suspects:
        _deliver_claimed(claim)
    return sum(len(claim.events) for claim in (*fresh, *suspects))


def _deliver_claimed(claim: Claim) -> None:
    with in_all_workspaces("the drain serves every workspace"):
        with connection.cursor() as cursor:
            cursor.execute(_OWN, [claim.id])
            cursor.nextset()
            is_ours = cursor.rowcount == 1
        if is_ours:
            _settle(claim.events, _deliver(claim.events))


def _deliver(events: Sequence[Delivered]) -> dict[int, str]:
    """Give each event to each consumer; the errors by event. One bad consumer does not stop the others."""
    failures: dict[int, str] = {}
    for consumer in consumers():
        wanted = [event for event in events if consumer.wants(event.slug)]
        if not wanted:
            continue
        if consumer.batch and _attempt(consumer, wanted) is None:
            continue
        stopped: set[str] = set()
        for event in wanted:
            if event.aggregate_key in stopped:
                failures.setdefault(event.id, "waits for an earlier fact of the same aggregate")
                continue
            error = _attempt(consumer, [event])
            if error is not None:
                failures[event.id] = f"{consumer.name}: {error}"
                stopped.add(event.aggregate_key)
    return failures


def _attempt(consumer: Consumer, events: Sequence[Delivered]) -> str | None:
    """Receipt and effect in one savepoint. None on success (or when it was handled before), else the error."""
    scope = context.scope.get() if consumer.batch else Scope(events[0].workspace_id)
    cause = _common_cause(events)
    actor = Actor(**cause["actor"]) if "actor" in cause else context.SYSTEM
    try:
        with context.acting_as(actor, request=cause.get("request_id", "")), unit_of_work(scope):
            fresh = _receipts(consumer.name, events) if consumer.has_receipts else events
            if fresh:
                consumer.handle(fresh)
    except Exception as error:
        logger.exception("consumer failed", extra={"consumer": consumer.name, "events": [e.id for e in events]})
        return _storable(f"{type(error).__name__}: {error}")
    return None


def _common_cause(events: Sequence[Delivered]) -> dict[str, Any]:
    """Actor and request of the events when they agree; nobody is named for what another one did."""
    first = events[0].context_text
    return events[0].context if all(event.context_text == first for event in events) else {}


def _storable(text: str) -> str:
    """An error's text as a column takes it: no NUL, no lone surrogates, and not long."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()[:500]


def _receipts(name: str, events: Sequence[Delivered]) -> list[Delivered]:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO kernel_consumerreceipt (workspace_id, event_id, consumer)"
            " SELECT workspace_id, event_id, %s FROM kernel_outboxevent WHERE id = ANY(%s)"
            " ON CONFLICT DO NOTHING RETURNING event_id",
            [name, _array(events)],
        )
        if cursor.rowcount == len(events):
            return list(events)
        new = {row[0] for row in cursor.fetchall()}
    return [event for event in events if event.event_id in new]


def _array(events: Sequence[Delivered]) -> str:
    """Their ids as the text of an array, which is quoted at once; a list is, item by item."""
    return "{" + ",".join([str(event.id) for event in events]) + "}"


def _settle(events: Sequence[Delivered], failures: dict[int, str]) -> None:
    done = [event for event in events if event.id not in failures]
    with connection.cursor() as cursor:
        if done:
            cursor.execute(
                "UPDATE kernel_outboxevent SET published_at = now(), last_error = '' WHERE id = ANY(%s)",
                [_array(done)],
            )
        for event in events:
            if event.id in failures:
                _postpone(cursor, event, failures[event.id])


def _postpone(cursor: Any, event: Delivered, error: str) -> None:
    attempts = event.attempts + 1
    delay = min(settings.OUTBOX_BACKOFF_SECONDS * 2 ** (attempts - 1), settings.OUTBOX_BACKOFF_MAX_SECONDS)
    parked = clock.now() if attempts >= settings.OUTBOX_MAX_ATTEMPTS else None
    cursor.execute(
        "UPDATE kernel_outboxevent SET attempts = %s, claims = 0, available_at = %s, parked_at = %s, last_error = %s WHERE id = %s",
        [attempts, clock.now() + timedelta(seconds=delay), parked, error, event.id],
    )


def redeliver(*, ids: Sequence[int]) -> int:
    """Take parked events up again, from the first attempt; how many were parked."""
    with in_all_workspaces("operators redeliver for every workspace"), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE kernel_outboxevent SET parked_at = NULL, attempts = 0, claims = 0, available_at = now()"
            " WHERE id = ANY(%s) AND parked_at IS NOT NULL",
            [list(ids)],
        )
        count = int(cursor.rowcount)
        after_commit(wake_drain)
    return count


def prune(*, older_than: timedelta) -> int:
    """Delete published events and their receipts, and say how many events; what is parked or waiting stays.

    Walks the events in the order of their ids, which is nearly that of time, so that no index serves this alone.
    """
    before, walked, count = clock.now() - older_than, 0, 0
    while True:
        with in_all_workspaces("pruning of plumbing"), connection.cursor() as cursor:
            cursor.execute(
                "SELECT max(id), min(created_at) FROM (SELECT id, created_at FROM kernel_outboxevent"
                " WHERE id > %s ORDER BY id LIMIT %s) AS batch",
                [walked, _PRUNE_BATCH],
            )
            last, earliest = cursor.fetchone()
            if last is None or earliest >= before:
                return count
            cursor.execute(
                "WITH gone AS (DELETE FROM kernel_outboxevent WHERE id > %s AND id <= %s AND published_at < %s"
                " RETURNING event_id),"
                " receipts AS (DELETE FROM kernel_consumerreceipt r USING gone WHERE r.event_id = gone.event_id)"
                " SELECT count(*) FROM gone",
                [walked, last, before],
            )
            walked, count = last, count + int(cursor.fetchone()[0])

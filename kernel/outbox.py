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
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from kernel import clock, context, nudge
from kernel.context import Actor, Scope
from kernel.events import DomainEvent
from kernel.transactions import Call, after_commit, current_unit, in_all_workspaces, unit_of_work

logger = logging.getLogger(__name__)

FLUSH_RANK = 10
_PRUNE_BATCH = 5_000


class Delivered(NamedTuple):
    """An event as a consumer sees it. `event_id` is stable over retries and is the public id of a SystemEvent."""

    id: int
    event_id: UUID
    workspace_id: UUID
    slug: str
    version: int
    aggregate_key: str
    payload_text: str
    context_text: str
    occurred_at: datetime
    attempts: int

    # Read only when asked for: who works in SQL on the whole batch has no use for them.
    @property
    def payload(self) -> dict[str, Any]:
        """What the fact says, without its workspace."""
        said: dict[str, Any] = orjson.loads(self.payload_text)
        return said

    @property
    def context(self) -> dict[str, Any]:
        """Actor and request of its cause."""
        cause: dict[str, Any] = orjson.loads(self.context_text)
        return cause


@dataclass(frozen=True)
class Claim:
    """A batch that one drain may deliver, while its row is in the ledger."""

    id: int
    events: list[Delivered]


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


# Claims are made one after the other, so that each sees what the others took; they last for some milliseconds.
# A claim that a crash of the database forgets is made again; nobody has to wait for the disk.
_ONE_CLAIM_AT_A_TIME = """
SET LOCAL synchronous_commit = off;
SELECT pg_advisory_xact_lock(hashtext('kernel.outbox.claim'))
"""

_COLUMNS = (
    "id, event_id, workspace_id, slug, version, aggregate_key, payload::text, context::text, created_at, attempts"
)

# Fresh events in a batch: heads of their aggregates, then what waits behind them. While a head is claimed it is not
# published, so nothing behind it is a head, and whatever is emitted later waits for it as well.
# Both look-ups are written so that they can only walk kernel_outbox_order (hence the odd test of parked_at): with the
# statistics of a quiet hour, any other plan compares every event of a backlog with every other.
_CLAIM_FRESH = f"""
WITH heads AS MATERIALIZED (
    SELECT o.id, o.aggregate_key FROM kernel_outboxevent o
    WHERE o.published_at IS NULL AND o.parked_at IS NULL AND o.available_at <= now() AND o.claims = 0 AND o.attempts = 0
      AND o.id NOT IN (SELECT unnest(event_ids) FROM kernel_outboxclaim)
      AND o.id = (
        SELECT e.id FROM kernel_outboxevent e
        WHERE e.aggregate_key = o.aggregate_key AND e.published_at IS NULL
          AND coalesce(e.parked_at, 'infinity') = 'infinity'
        ORDER BY e.aggregate_key, e.id LIMIT 1)
    ORDER BY o.available_at, o.id LIMIT %(limit)s
), followers AS (
    SELECT f.id FROM heads h CROSS JOIN LATERAL (
        SELECT e.id FROM kernel_outboxevent e
        WHERE e.aggregate_key = h.aggregate_key AND e.id > h.id AND e.claims = 0 AND e.attempts = 0
          AND e.published_at IS NULL AND e.parked_at IS NULL
        ORDER BY e.aggregate_key, e.id LIMIT %(limit)s) AS f
    ORDER BY f.id LIMIT %(limit)s
), chosen AS MATERIALIZED (
    SELECT {_COLUMNS} FROM kernel_outboxevent
    WHERE id = ANY(ARRAY(SELECT id FROM heads UNION ALL SELECT id FROM followers))
), ledger AS (
    INSERT INTO kernel_outboxclaim (event_ids, until)
    SELECT array_agg(id), now() + %(lease)s FROM chosen HAVING count(*) > 0 RETURNING id
)
SELECT (SELECT id FROM ledger), chosen.* FROM chosen ORDER BY chosen.id
"""  # noqa: S608 - made of constants

# Events that failed before, or whose worker died, are taken alone: the others of their batch are innocent.
_CLAIM_SUSPECT = f"""
WITH chosen AS MATERIALIZED (
    SELECT {_COLUMNS} FROM kernel_outboxevent o
    WHERE o.published_at IS NULL AND o.parked_at IS NULL AND o.available_at <= now() AND (o.claims > 0 OR o.attempts > 0)
      AND o.id NOT IN (SELECT unnest(event_ids) FROM kernel_outboxclaim)
      AND NOT EXISTS (
        SELECT 1 FROM kernel_outboxevent e
        WHERE e.aggregate_key = o.aggregate_key AND e.published_at IS NULL AND e.parked_at IS NULL AND e.id < o.id)
    ORDER BY o.available_at, o.id LIMIT 1
), ledger AS (
    INSERT INTO kernel_outboxclaim (event_ids, until) SELECT ARRAY[id], now() + %(lease)s FROM chosen RETURNING id
)
SELECT (SELECT id FROM ledger), chosen.* FROM chosen
"""  # noqa: S608 - made of constants

# A claim whose lease ended belonged to a worker that died, and one of its events may be why: each is tried alone from
# now on, and parked when it was there too often. A claim that is locked has a worker that lives, however late it is.
_BURY = """
WITH dead AS (
    DELETE FROM kernel_outboxclaim WHERE id IN (
        SELECT id FROM kernel_outboxclaim WHERE until <= now() FOR UPDATE SKIP LOCKED)
    RETURNING event_ids
)
UPDATE kernel_outboxevent SET claims = claims + 1,
    parked_at = CASE WHEN claims + 1 >= %(most)s THEN now() END,
    last_error = CASE WHEN claims + 1 >= %(most)s THEN 'its worker died at each try' ELSE last_error END
WHERE id IN (SELECT unnest(event_ids) FROM dead) AND published_at IS NULL AND parked_at IS NULL
"""


# The same events, were they still to be claimed.
_IS_SUSPECT = """
SELECT EXISTS (SELECT 1 FROM kernel_outboxevent
    WHERE published_at IS NULL AND parked_at IS NULL AND available_at <= now() AND (claims > 0 OR attempts > 0))
"""

# One journey to the database: while another thread of the process works, each return can cost a turn of waiting for it.
_CLAIM = ";".join((_ONE_CLAIM_AT_A_TIME, _BURY, _IS_SUSPECT, _CLAIM_FRESH))
_CLAIM_ONE_SUSPECT = ";".join((_ONE_CLAIM_AT_A_TIME, _CLAIM_SUSPECT))

# Who deletes the claim owns its events. A broken reference is its consumer's fault at once; deferred, it would fail the
# whole batch at commit.
_OWN = "SET CONSTRAINTS ALL IMMEDIATE; DELETE FROM kernel_outboxclaim WHERE id = %s"


def drain(*, limit: int | None = None) -> int:
    """Deliver one batch of fresh events, then one that failed before; the number taken. Safe to run in any number of
    processes at once.

    The suspect is claimed when its turn has come: claimed with the others, its lease could end while they are delivered,
    and it would be taken for the one whose worker died.
    """
    fresh, has_suspects = _claim(limit or settings.OUTBOX_BATCH)
    for claim in fresh:
        _deliver_claimed(claim)
    suspects = _claim_suspect() if has_suspects else []
    for claim in suspects:
        _deliver_claimed(claim)
    return sum(len(claim.events) for claim in (*fresh, *suspects))


def _claim(limit: int) -> tuple[list[Claim], bool]:
    """A batch of fresh events that is ours to deliver now, and whether there may be one that failed before."""
    _, (may_be,), claimed = _answers(_CLAIM, limit=limit, most=settings.OUTBOX_MAX_CLAIMS)
    return _claims(claimed), bool(may_be[0])


def _claim_suspect() -> list[Claim]:
    """One event that failed before, ours to deliver now."""
    _, claimed = _answers(_CLAIM_ONE_SUSPECT)
    return _claims(claimed)


def _answers(statements: str, **values: int) -> list[list[Any]]:
    """What those of some statements that answer at all answer, the lock first."""
    lease: Any = timedelta(seconds=settings.OUTBOX_LEASE_SECONDS)  # psycopg takes it; the stubs do not know
    with in_all_workspaces("the drain serves every workspace"), connection.cursor() as cursor:
        cursor.execute(statements, {"lease": lease} | values)
        found = []
        while True:
            if cursor.description is not None:
                found.append(cursor.fetchall())
            if not cursor.nextset():
                return found


def _claims(rows: list[Any]) -> list[Claim]:
    return [Claim(rows[0][0], [Delivered(*row[1:]) for row in rows])] if rows else []


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

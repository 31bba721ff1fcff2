"""Which events of the outbox are ours to deliver now: claimed in a ledger, under a lease, by one drain at a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from kernel.transactions import in_all_workspaces


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


def fresh(*, limit: int) -> tuple[list[Claim], bool]:
    """A batch of fresh events that is ours to deliver now, and whether there may be one that failed before."""
    _, (may_be,), claimed = _answers(_CLAIM, limit=limit, most=settings.OUTBOX_MAX_CLAIMS)
    return _claims(claimed), bool(may_be[0])


def suspect() -> list[Claim]:
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

"""Turn published facts into SystemEvents and one delivery for each endpoint that asked for them.

One statement for a whole batch: at thousands of events a second every row that Python handles alone is felt. Deliveries
are made for disabled webhooks too; the dispatcher cancels them (services/cancelling.py), and enabling replays exactly
those. So no event falls between "disabled" and "enabled again", and nothing here needs a lock.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from kernel.outbox import Delivered
from kernel.transactions import after_commit
from webhooks.events import WebhookTested
from webhooks.queries import catalogue
from webhooks.transport import wakeups

# Which webhook `w` wants which event `e`. Nobody is told by webhook about the troubles of that same webhook: it would
# fail again, and be told again. A test-send reaches the tested endpoint only.
MATCHES = f"""
    w.workspace_id = e.workspace_id AND w.deleted_at IS NULL
    AND w.slugs && ARRAY[e.slug, split_part(e.slug, '.', 1) || '.*', '*']::varchar[]
    AND e.slug <> '{WebhookTested.slug}'
    AND NOT (e.slug LIKE 'webhook.%%' AND e.body::jsonb -> 'data' ->> 'webhook_id' = w.id::text)
"""

_PUBLISH = f"""
WITH e AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%s::json)
      AS t(id uuid, workspace_id uuid, slug text, version int, aggregate_key text, occurred_at timestamptz,
           sequence bigint, body text)
), stored AS (
    INSERT INTO webhooks_systemevent
        (id, workspace_id, slug, version, aggregate_key, occurred_at, sequence, body)
    SELECT id, workspace_id, slug, version, aggregate_key, occurred_at, sequence, body FROM e
    ON CONFLICT (id) DO NOTHING
)
INSERT INTO webhooks_webhookdelivery (id, workspace_id, webhook_id, system_event_id, replay_no, sequence)
SELECT gen_random_uuid(), e.workspace_id, w.id, e.id, 0, CASE WHEN w.ordered THEN e.sequence END
FROM e JOIN webhooks_webhook w ON {MATCHES}
ON CONFLICT DO NOTHING
"""  # noqa: S608 - made of constants


def publish(*, events: Sequence[Delivered]) -> None:
    """Store the public ones among `events` and queue their deliveries; runs in the transaction of the outbox's drain."""
    known = catalogue.public_events()
    public = [event for event in events if event.slug in known]
    if not public:
        return
    rows = orjson.dumps([_row(event) for event in public]).decode()
    with connection.cursor() as cursor:
        cursor.execute(_PUBLISH, [rows])
    after_commit(wakeups.ring)


def body_of(*, slug: str, occurred_at: datetime, data: dict[str, Any]) -> str:
    """The JSON text of a delivery's body. It is made once, stored, and sent byte for byte at every attempt."""
    return orjson.dumps({"type": slug, "timestamp": occurred_at, "data": data}, option=orjson.OPT_UTC_Z).decode()


def data_of(*, event_id: UUID, workspace_id: UUID, payload: dict[str, Any]) -> dict[str, Any]:
    """What an event says, with its own id and workspace."""
    return {"id": event_id, "workspace_id": workspace_id, **payload}


def _row(event: Delivered) -> dict[str, Any]:
    data = data_of(event_id=event.event_id, workspace_id=event.workspace_id, payload=event.payload)
    return {
        "id": event.event_id,
        "workspace_id": event.workspace_id,
        "slug": event.slug,
        "version": event.version,
        "aggregate_key": event.aggregate_key,
        "occurred_at": event.occurred_at,
        "sequence": event.id,
        "body": body_of(slug=event.slug, occurred_at=event.occurred_at, data=data),
    }

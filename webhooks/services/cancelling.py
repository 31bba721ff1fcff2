"""End what waits for a webhook that is disabled or deleted."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

# Millions may wait. What one unit leaves over, the dispatcher's survey finds and cancels in its next rounds.
CHUNK = 1_000

# The shared lock settles the race with enabling: either enabling sees these rows as cancelled and replays them, or this
# sees an active webhook, or passes over one that is being enabled, and leaves them to be sent. What is in flight keeps its
# lease and is written back by its sender. By webhook and by an array of ids, because row-level security misleads the
# planner about sizes.
_CANCEL = """
WITH closed AS MATERIALIZED (
    SELECT id FROM webhooks_webhook
    WHERE id = ANY(%(ids)s::uuid[]) AND (state <> 'active' OR deleted_at IS NOT NULL) ORDER BY id FOR SHARE SKIP LOCKED
), waiting AS MATERIALIZED (
    SELECT taken.id FROM closed CROSS JOIN LATERAL (
        SELECT d.id FROM webhooks_webhookdelivery d
        WHERE d.webhook_id = closed.id AND d.status = 'pending' AND (d.lease_until IS NULL OR d.lease_until <= now())
        ORDER BY d.due_at LIMIT %(chunk)s FOR UPDATE SKIP LOCKED) AS taken
    LIMIT %(chunk)s
)
UPDATE webhooks_webhookdelivery SET status = 'cancelled', lease_until = NULL, last_error = 'The webhook was disabled or deleted.'
WHERE id = ANY(ARRAY(SELECT id FROM waiting))
"""


def cancel_waiting(*, webhook_ids: Sequence[UUID | str]) -> int:
    """Cancel deliveries, CHUNK at most, that wait for those of `webhook_ids` that are closed; how many. Needs a unit of work."""
    with connection.cursor() as cursor:
        cursor.execute(_CANCEL, {"ids": [str(each) for each in webhook_ids], "chunk": CHUNK})
        return int(cursor.rowcount)

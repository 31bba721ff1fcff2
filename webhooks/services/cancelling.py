"""End what waits for a webhook that is disabled or deleted."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

# The shared lock settles the race with enabling: either enabling sees these rows as cancelled and replays them, or this
# sees an active webhook and leaves them to be sent. What is in flight keeps its lease and is written back by its sender.
_CANCEL = """
WITH closed AS MATERIALIZED (
    SELECT id FROM webhooks_webhook
    WHERE id = ANY(%(ids)s::uuid[]) AND (state <> 'active' OR deleted_at IS NOT NULL) ORDER BY id FOR SHARE
), waiting AS MATERIALIZED (
    SELECT d.id FROM webhooks_webhookdelivery d JOIN closed ON closed.id = d.webhook_id
    WHERE d.status = 'pending' AND (d.lease_until IS NULL OR d.lease_until <= now())
    FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhooks_webhookdelivery d SET status = 'cancelled', lease_until = NULL, last_error = 'The webhook was disabled or deleted.'
FROM waiting WHERE d.id = waiting.id
"""


def cancel_waiting(*, webhook_ids: Sequence[UUID | str]) -> int:
    """Cancel the waiting deliveries of those of `webhook_ids` that are closed; how many. Needs a unit of work."""
    with connection.cursor() as cursor:
        cursor.execute(_CANCEL, {"ids": [str(each) for each in webhook_ids]})
        return int(cursor.rowcount)

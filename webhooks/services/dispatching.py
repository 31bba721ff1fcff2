"""Turn published facts into SystemEvents and one delivery for each endpoint that asked for them.

One statement for a whole batch: at thousands of events a second every row that Python handles alone is felt. Deliveries
are made for disabled webhooks too; the dispatcher cancels them (services/cancelling.py), and enabling replays exactly
those. So no event falls between "disabled" and "enabled again", and nothing here needs a lock.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Func, JSONField, TextField, Value

from kernel.claims import Delivered
from kernel.events import DomainEvent
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

# The events go from table to table. An event that is stored already was published before: its row is the receipt.
_PUBLISH = f"""
WITH e AS (
    INSERT INTO webhooks_systemevent (id, workspace_id, slug, version, aggregate_key, occurred_at, sequence, body)
    SELECT o.event_id, o.workspace_id, o.slug, o.version, o.aggregate_key, o.created_at, o.id,
           webhooks_body_v1(o.slug, o.created_at, o.event_id, o.workspace_id, o.payload)
    FROM kernel_outboxevent o WHERE o.id = ANY(%s::bigint[])
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, slug, sequence, body
)
INSERT INTO webhooks_webhookdelivery (id, workspace_id, webhook_id, system_event_id, replay_no, sequence)
SELECT gen_random_uuid(), e.workspace_id, w.id, e.id, 0, CASE WHEN w.ordered THEN e.sequence END
FROM e JOIN webhooks_webhook w ON {MATCHES}
"""  # noqa: S608 - made of constants


def publish(*, events: Sequence[Delivered]) -> None:
    """Store the public ones among `events` and queue their deliveries; runs in the transaction of the outbox's drain."""
    known = catalogue.public_events()
    public = [str(event.id) for event in events if event.slug in known]
    if not public:
        return
    with connection.cursor() as cursor:
        cursor.execute(_PUBLISH, ["{" + ",".join(public) + "}"])
    after_commit(wakeups.ring)


def body(*, fact: DomainEvent, event_id: UUID, at: datetime) -> Func:
    """The body of a delivery about `fact`, for a column of SystemEvent: the same that `publish` makes of it."""
    payload = Value(fact.payload(), output_field=JSONField())
    parts = Value(fact.slug), Value(at), Value(event_id), Value(fact.workspace_id), payload
    return Func(*parts, function="webhooks_body_v1", output_field=TextField())

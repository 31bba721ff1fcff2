"""Send events again: one delivery, a range of time, or what an endpoint missed. Each replay is a new row, counted up."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import after_commit, in_workspace
from webhooks.models import Webhook, WebhookDelivery
from webhooks.queries import webhooks
from webhooks.services import journal
from webhooks.services.dispatching import MATCHES
from webhooks.transport import wakeups
from webhooks.types import DeliveryStatus, WebhookState

# What happened to each event at this webhook so far. The unique index on (webhook, event, replay) answers it.
_HISTORY = """
LEFT JOIN LATERAL (
    SELECT max(d.replay_no) AS last_no, bool_or(d.status = 'pending') AS waits,
           bool_or(d.status = 'delivered') AS arrived,
           bool_or(d.status IN ('failed', 'cancelled') AND d.updated_at >= %(missed_since)s) AS missed
    FROM webhooks_webhookdelivery d WHERE d.webhook_id = w.id AND d.system_event_id = e.id
) h ON true
"""

_IN_RANGE = f"""
FROM webhooks_webhook w
JOIN webhooks_systemevent e ON {MATCHES} AND e.occurred_at >= %(since)s AND e.occurred_at < %(until)s
     -- Implied by the line above, and answered by an index: publication follows the fact.
     AND e.created_at >= %(since)s
{_HISTORY}
WHERE w.id = %(webhook)s AND h.waits IS NOT TRUE AND (NOT %(failed_only)s OR h.arrived IS NOT TRUE)
"""

_MISSED = f"""
FROM webhooks_webhook w
JOIN webhooks_systemevent e ON e.id IN (
    SELECT m.system_event_id FROM webhooks_webhookdelivery m
    WHERE m.webhook_id = %(webhook)s AND m.status IN ('failed', 'cancelled') AND m.updated_at >= %(missed_since)s)
{_HISTORY}
WHERE w.id = %(webhook)s AND h.waits IS NOT TRUE AND h.arrived IS NOT TRUE AND h.missed
"""  # noqa: S608 - made of constants

_QUEUE = """
INSERT INTO webhooks_webhookdelivery (id, workspace_id, webhook_id, system_event_id, replay_no, sequence)
SELECT gen_random_uuid(), w.workspace_id, w.id, e.id, coalesce(h.last_no + 1, 0), CASE WHEN w.ordered THEN e.sequence END
"""


def replay_range(
    *,
    workspace_id: UUID,
    webhook_id: UUID,
    since: datetime,
    until: datetime,
    failed_only: bool = False,
    dry_run: bool = False,
) -> int:
    """Queue the events of [since, until) that the webhook subscribes to now; how many.

    `failed_only` takes those that never arrived, also those from before the webhook existed. An event that is still on
    its way is left alone. A `dry_run` only counts.
    """
    if since >= until:
        raise Invalid("`since` must be earlier than `until`.", pointer="/since")
    values: dict[str, Any] = {
        "webhook": webhook_id,
        "since": since,
        "until": until,
        "failed_only": failed_only,
        "missed_since": since,
    }
    with in_workspace(workspace_id), connection.cursor() as cursor:
        _active(webhook_id)
        if dry_run:
            cursor.execute("SELECT count(*) " + _IN_RANGE, values)
            return int(cursor.fetchone()[0])
        cursor.execute(_QUEUE + _IN_RANGE + " ON CONFLICT DO NOTHING", values)
        count = int(cursor.rowcount)
        journal.note(
            workspace_id=workspace_id,
            webhook_id=webhook_id,
            verb="replay",
            since=since,
            until=until,
            failed_only=failed_only,
            deliveries=count,
        )
        after_commit(wakeups.ring)
    return count


def replay(*, workspace_id: UUID, delivery_id: UUID, webhook_id: UUID | None = None) -> WebhookDelivery:
    """Queue the event of one delivery (of one webhook, when it is named) once more; the new delivery."""
    with in_workspace(workspace_id):
        old = WebhookDelivery.objects.filter(id=delivery_id).first()
        if old is None or webhook_id not in (None, old.webhook_id):
            raise NotFound("No such delivery of this webhook.", pointer="/delivery_id")
        webhook = _active(old.webhook_id)
        family = WebhookDelivery.objects.filter(webhook_id=webhook.id, system_event_id=old.system_event_id)
        if family.filter(status=DeliveryStatus.PENDING).exists():
            raise Conflict("This event is already on its way to the endpoint.")
        last, sequence = family.order_by("-replay_no").values_list("replay_no", "system_event__sequence")[0]
        new = WebhookDelivery.objects.create(
            workspace_id=workspace_id,
            webhook_id=webhook.id,
            system_event_id=old.system_event_id,
            replay_no=last + 1,
            sequence=sequence if webhook.ordered else None,
        )
        journal.note(
            workspace_id=workspace_id, webhook_id=webhook.id, verb="replay", delivery_id=delivery_id, deliveries=1
        )
        after_commit(wakeups.ring)
    return new


def queue_gap(*, webhook_id: UUID, since: datetime) -> int:
    """Queue what failed or was cancelled since a moment and never arrived. Needs a unit of work that holds the webhook."""
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE + _MISSED + " ON CONFLICT DO NOTHING", {"webhook": webhook_id, "missed_since": since})
        return int(cursor.rowcount)


def _active(webhook_id: UUID) -> Webhook:
    """The webhook, locked, so that two replays at once do not count to the same number."""
    webhook = webhooks.locked(webhook_id)
    if webhook.state != WebhookState.ACTIVE:
        raise Conflict("The webhook is disabled. Enable it: that replays what it missed.")
    return webhook

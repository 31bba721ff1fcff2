"""Take due deliveries under a lease, so that no endpoint, however far behind, keeps another one waiting.

First a survey of which webhooks have something due (a walk over distinct entries of one partial index, not over rows),
then a claim with a quota for each. A claim changes no column of an index: leased rows keep their place among the due
ones and are passed over. `lease_token` rises with each claim and fences the late writer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings

from kernel import clock
from kernel.models import Heartbeat
from tenancy.queries import control
from webhooks.queries import endpoints
from webhooks.services import cancelling, serving
from webhooks.transport import pacing
from webhooks.transport.pacing import Grant
from webhooks.types import Claim, Endpoint, Waiting


@dataclass(frozen=True, slots=True)
class Quota:
    """How many deliveries of a webhook may be claimed now."""

    webhook_id: str
    count: int
    ordered: bool = False
    rate_per_second: int | None = None


SURVEY = f"""
WITH RECURSIVE waiting AS (
    (SELECT webhook_id, due_at FROM webhooks_webhookdelivery WHERE status = 'pending'
     ORDER BY webhook_id, due_at LIMIT 1)
    UNION ALL
    SELECT following.webhook_id, following.due_at FROM waiting CROSS JOIN LATERAL (
        SELECT d.webhook_id, d.due_at FROM webhooks_webhookdelivery d
        WHERE d.status = 'pending' AND d.webhook_id > waiting.webhook_id
        ORDER BY d.webhook_id, d.due_at LIMIT 1) AS following
)
SELECT w.id::text, w.state = 'active' AND w.deleted_at IS NULL, w.failing_since IS NOT NULL, w.updated_at,
    w.workspace_id = ANY ({control.STOPPED_FOR_WEBHOOKS})
FROM waiting JOIN webhooks_webhook w ON w.id = waiting.webhook_id
WHERE waiting.due_at <= now() OR w.state <> 'active' OR w.deleted_at IS NOT NULL
"""  # noqa: S608 - pieces of ours

# The state and time are asked again on the locked row: another dispatcher may have been faster. So is the emergency stop,
# in the transaction that takes the lease.
CHOOSE = f"""
WITH quota AS MATERIALIZED (
    SELECT q.* FROM unnest(%(webhooks)s::uuid[], %(counts)s::int[], %(ordered)s::bool[]) AS q(webhook_id, n, ordered)
    JOIN webhooks_webhook w ON w.id = q.webhook_id AND w.workspace_id <> ALL ({control.STOPPED_FOR_WEBHOOKS})
)
SELECT taken.id::text FROM quota CROSS JOIN LATERAL (
    SELECT d.id FROM webhooks_webhookdelivery d
    WHERE d.webhook_id = quota.webhook_id AND d.status = 'pending' AND d.due_at <= now()
      AND (d.lease_until IS NULL OR d.lease_until <= now())
    ORDER BY d.due_at LIMIT quota.n FOR UPDATE SKIP LOCKED) AS taken
WHERE NOT quota.ordered
UNION ALL
SELECT head.id::text FROM quota CROSS JOIN LATERAL (
    SELECT d.id FROM webhooks_webhookdelivery d
    WHERE d.id = (
        SELECT o.id FROM webhooks_webhookdelivery o
        WHERE o.webhook_id = quota.webhook_id AND o.status = 'pending' AND o.sequence IS NOT NULL
        ORDER BY o.sequence, o.replay_no LIMIT 1)
      AND d.status = 'pending' AND d.due_at <= now() AND (d.lease_until IS NULL OR d.lease_until <= now())
    FOR UPDATE SKIP LOCKED) AS head
WHERE quota.ordered
"""  # noqa: S608 - pieces of ours

# Three plain statements and no join: row-level security misleads the planner about sizes, and it would join badly.
_LEASE = """
UPDATE webhooks_webhookdelivery SET lease_token = lease_token + 1, lease_until = now() + %s
WHERE id = ANY(%s::uuid[])
RETURNING id::text, webhook_id::text, workspace_id::text, system_event_id::text, attempts, lease_token
"""

_EVENTS = "SELECT id::text, slug, convert_to(body, 'UTF8') FROM webhooks_systemevent WHERE id = ANY(%s::uuid[])"

_GIVE_BACK = """
UPDATE webhooks_webhookdelivery d SET lease_until = NULL, due_at = CASE WHEN c.delay > 0 THEN now() + make_interval(secs => c.delay) ELSE d.due_at END
FROM json_to_recordset(%(rows)s::json) AS c(id uuid, token int, delay float8)
WHERE d.id = c.id AND d.lease_token = c.token AND d.lease_until IS NOT NULL AND d.id = ANY(ARRAY(
    SELECT id FROM webhooks_webhookdelivery WHERE id = ANY(%(ids)s::uuid[]) FOR NO KEY UPDATE SKIP LOCKED))
"""


def beat() -> None:
    """Say that a dispatcher lives, for the status page."""
    with serving.unit():
        Heartbeat.objects.update_or_create(name="webhooks", defaults={"at": clock.now()})


def survey() -> list[Waiting]:
    """Every webhook with a due delivery, and those that wait for a webhook which is closed."""
    with serving.unit() as cursor:
        cursor.execute(SURVEY)
        return [Waiting(*row) for row in cursor.fetchall()]


def stopped() -> frozenset[str]:
    """Workspaces whose webhooks rest, because of an emergency stop that does not spare them."""
    with serving.unit():
        return frozenset(map(str, control.stopped_for_webhooks()))


def snapshots(*, webhook_ids: Sequence[str]) -> list[Endpoint]:
    """Endpoints with their opened secrets, to be held no longer than their rows stay unchanged."""
    with serving.unit():
        return endpoints.find(webhook_ids)


def cancel_closed(*, webhook_ids: Sequence[str]) -> bool:
    """Cancel some of what waits for webhooks that are disabled or deleted; whether there may be more."""
    with serving.unit():
        return cancelling.cancel_waiting(webhook_ids=webhook_ids) >= cancelling.CHUNK


def claim(*, quotas: Sequence[Quota]) -> list[Claim]:
    """Lease due deliveries within `quotas`; of an ordered webhook its head alone, and only when that is due."""
    quotas, grants = _paced(quotas)
    lease: Any = timedelta(seconds=settings.WEBHOOK_LEASE_SECONDS)
    with serving.unit(may_forget=True) as cursor:
        cursor.execute(
            CHOOSE,
            {
                "webhooks": [quota.webhook_id for quota in quotas],
                "counts": [quota.count for quota in quotas],
                "ordered": [quota.ordered for quota in quotas],
            },
        )
        cursor.execute(_LEASE, [lease, array([row[0] for row in cursor.fetchall()])])
        leased = cursor.fetchall()
        cursor.execute(_EVENTS, [array({row[3] for row in leased})])
        events = {row[0]: row[1:] for row in cursor.fetchall()}
        claims = [Claim(*row, *events[row[3]]) for row in leased]
    _return_unused(grants, claims)
    return claims


def give_back(*, claims: Sequence[tuple[Claim, float]]) -> None:
    """End leases without an attempt; each delivery is due again after its seconds. Those that somebody holds wait for the
    end of their leases."""
    with serving.unit() as cursor:
        rows = [{"id": claim.delivery_id, "token": claim.lease_token, "delay": delay} for claim, delay in claims]
        ids = array([claim.delivery_id for claim, _ in claims])
        cursor.execute(_GIVE_BACK, {"rows": orjson.dumps(rows).decode(), "ids": ids})


def array(ids: Iterable[str]) -> str:
    """Ids as the text of an array: one string is quoted at once, a list item by item."""
    return "{" + ",".join(ids) + "}"


def _paced(quotas: Sequence[Quota]) -> tuple[list[Quota], dict[str, Grant]]:
    """The quotas within the rates of their webhooks, and what was taken from the rates."""
    grants = {
        quota.webhook_id: pacing.take(key=quota.webhook_id, rate=quota.rate_per_second, wanted=quota.count)
        for quota in quotas
        if quota.rate_per_second is not None
    }
    return [
        replace(quota, count=grants[quota.webhook_id].count) if quota.webhook_id in grants else quota
        for quota in quotas
    ], grants


def _return_unused(grants: Mapping[str, Grant], claims: Sequence[Claim]) -> None:
    for webhook_id, grant in grants.items():
        used = sum(claim.webhook_id == webhook_id for claim in claims)
        pacing.give_back(grant=grant, unused=grant.count - used)

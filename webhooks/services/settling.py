"""Write attempts back in one statement for a whole batch, and tell what follows from them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import orjson
from django.db import connection

from kernel import outbox
from webhooks.events import DeliveryExhausted, WebhookTested
from webhooks.services import claiming, health, judging, serving
from webhooks.services.judging import Verdict
from webhooks.types import Result

# A result whose lease was taken over meanwhile changes nothing: its token is old. One whose delivery somebody holds (its
# webhook's order changes, say) stays for a later round, so that the others of its batch do not wait.
_SETTLE = """
WITH result AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(rows)s::json)
      AS r(id uuid, token int, status text, delay float8, status_code int, error text, duration_ms int, excerpt text)
), ours AS MATERIALIZED (
    SELECT d.id FROM webhooks_webhookdelivery d JOIN result r ON r.id = d.id
    WHERE d.id = ANY(%(ids)s::uuid[]) AND d.lease_token = r.token AND d.lease_until IS NOT NULL
), free AS MATERIALIZED (
    SELECT id FROM webhooks_webhookdelivery WHERE id = ANY(%(ids)s::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
), written AS (
    UPDATE webhooks_webhookdelivery d
    SET status = r.status, lease_until = NULL, attempts = d.attempts + 1, due_at = now() + make_interval(secs => r.delay), last_status_code = r.status_code,
        last_error = r.error, delivered_at = CASE WHEN r.status = 'delivered' THEN now() END
    FROM result r
    WHERE d.id = ANY(ARRAY(SELECT id FROM free)) AND d.id = r.id AND d.lease_token = r.token AND d.lease_until IS NOT NULL
    RETURNING d.id, d.workspace_id, d.attempts
), attempt AS (
    INSERT INTO webhooks_webhookattempt
        (workspace_id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt)
    SELECT w.workspace_id, w.id, w.attempts, now() - make_interval(secs => r.duration_ms / 1000.0), r.duration_ms,
           r.status_code, r.error, r.excerpt
    FROM written w JOIN result r ON r.id = w.id
)
SELECT ARRAY(SELECT id::text FROM written), ARRAY(SELECT id::text FROM ours WHERE id NOT IN (SELECT id FROM free)), now()
"""


def settle(*, results: Sequence[Result], failing: Collection[str] = ()) -> list[Result]:
    """Record attempts, announce exhausted deliveries, and keep the health of the endpoints.

    Gives back the results that have to be written later, because somebody holds their deliveries. `failing` are the endpoints that were failing before, as far as the caller knows.
    """
    judged = [(result, _judge(result)) for result in results]
    with serving.unit():
        written, held, at = _write(judged)
        for result, verdict in judged:
            if verdict.is_exhausted and result.claim.delivery_id in written:
                _announce(result, verdict)
    # In a transaction of its own: it locks webhooks, and whoever disables one locks the webhook before its deliveries.
    recorded = [result for result in results if result.claim.delivery_id in written]
    if recorded:
        health.note(results=recorded, failing=failing, at=at)
    return [result for result in results if result.claim.delivery_id in held]


def _judge(result: Result) -> Verdict:
    claim = result.claim
    # A test is there for who looks on. Tried again later, it would only keep the real events of an ordered endpoint back.
    retries = claim.slug != WebhookTested.slug
    return judging.judge(outcome=result.outcome, attempts_before=claim.attempts, retries=retries)


def _write(judged: Sequence[tuple[Result, Verdict]]) -> tuple[set[str], set[str], datetime]:
    """Write the attempts of claims that are still ours; their deliveries, those that somebody holds, and the time of it."""
    rows = [
        {
            "id": result.claim.delivery_id,
            "token": result.claim.lease_token,
            "status": verdict.status.value,
            "delay": verdict.delay,
            "status_code": result.outcome.status_code,
            "error": verdict.error,
            "duration_ms": result.outcome.duration_ms,
            "excerpt": result.outcome.excerpt,
        }
        for result, verdict in judged
    ]
    ids = claiming.array([result.claim.delivery_id for result, _ in judged])
    with connection.cursor() as cursor:
        # Row-level security misleads the planner about sizes, and it would compare every row with every other.
        cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(_SETTLE, {"rows": orjson.dumps(rows).decode(), "ids": ids})
        written, held, at = cursor.fetchone()
    return set(written), set(held), at


def _announce(result: Result, verdict: Verdict) -> None:
    """Tell other endpoints; but not of news about webhooks, which dead endpoints would pass to each other for ever."""
    claim = result.claim
    if claim.slug.startswith("webhook."):
        return
    outbox.emit(
        DeliveryExhausted(
            workspace_id=UUID(claim.workspace_id),
            webhook_id=UUID(claim.webhook_id),
            webhook_delivery_id=UUID(claim.delivery_id),
            system_event_id=UUID(claim.event_id),
            event_slug=claim.slug,
            attempts=claim.attempts + 1,
            last_status_code=result.outcome.status_code,
            last_error=verdict.error,
        )
    )

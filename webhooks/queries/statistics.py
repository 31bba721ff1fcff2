"""How an endpoint does: what became of the deliveries of a span of time, how fast it answers, what waits."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from kernel.errors import Invalid

LONGEST = timedelta(days=31)
# Up to so long a span is shown hour by hour, a longer one day by day.
_BY_HOUR = timedelta(days=3)

# One walk over the deliveries that were made in the span; their attempts are found by delivery.
_STATISTICS = """
WITH d AS MATERIALIZED (
    SELECT id, status, attempts, created_at, delivered_at FROM webhooks_webhookdelivery
    WHERE workspace_id = %(workspace)s AND webhook_id = %(webhook)s
      AND created_at >= %(since)s AND created_at < %(until)s
), totals AS (
    SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
           count(*) FILTER (WHERE status = 'delivered') AS delivered,
           count(*) FILTER (WHERE status = 'failed') AS failed,
           count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
           coalesce(sum(attempts), 0)::bigint AS attempts,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM delivered_at - created_at) * 1000)
             FILTER (WHERE delivered_at IS NOT NULL) AS delay
    FROM d
), durations AS (
    SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY a.duration_ms) AS took
    FROM d JOIN webhooks_webhookattempt a ON a.delivery_id = d.id
), waiting AS (
    SELECT count(*) AS waits, min(created_at) AS oldest FROM webhooks_webhookdelivery
    WHERE webhook_id = %(webhook)s AND status = 'pending'
), series AS (
    SELECT coalesce(json_agg(json_build_object('at', at, 'delivered', good, 'failed', bad, 'pending', open) ORDER BY at), '[]')
    FROM (
        SELECT date_trunc(%(step)s, created_at, 'UTC') AS at, count(*) FILTER (WHERE status = 'delivered') AS good,
               count(*) FILTER (WHERE status IN ('failed', 'cancelled')) AS bad,
               count(*) FILTER (WHERE status = 'pending') AS open
        FROM d GROUP BY 1
    ) AS step
)
SELECT pending, delivered, failed, cancelled, attempts, delay, took, waits, oldest, (SELECT * FROM series)
FROM totals, durations, waiting
"""


def of(*, workspace_id: UUID, webhook_id: UUID, since: datetime, until: datetime) -> dict[str, Any]:
    """The statistics of [since, until), at most 31 days; times in milliseconds, null where nothing was delivered."""
    if not timedelta(0) < until - since <= LONGEST:
        raise Invalid("`since` must be before `until`, by at most 31 days.", pointer="/since")
    step = "hour" if until - since <= _BY_HOUR else "day"
    with connection.cursor() as cursor:
        cursor.execute(
            _STATISTICS,
            {"workspace": workspace_id, "webhook": webhook_id, "since": since, "until": until, "step": step},
        )
        pending, delivered, failed, cancelled, attempts, delay, took, waits, oldest, series = cursor.fetchone()
    ended = delivered + failed
    return {
        "since": since,
        "until": until,
        "deliveries": {"pending": pending, "delivered": delivered, "failed": failed, "cancelled": cancelled},
        "success_rate": round(delivered / ended, 4) if ended else None,
        "attempts": attempts,
        "delay_ms": _percentiles(delay),
        "duration_ms": _percentiles(took),
        "waiting": {"count": waits, "oldest_created_at": oldest},
        "resolution": step,
        "series": series,
    }


def _percentiles(values: list[float] | None) -> dict[str, int] | None:
    return {"p50": round(values[0]), "p95": round(values[1])} if values else None

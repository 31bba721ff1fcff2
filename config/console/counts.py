"""What waits for a person, counted once for a page. Counts stop at a hundred: nobody needs to know more at a glance."""

from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest

from kernel.admin.place import place_of

CAP = 100

# Each part reads few rows of a partial or leading index. The workspace is named although row-level security says it too:
# its policy allows "or everything", which no index can answer.
_PARTS = {
    "approvals": "agents_approvalrequest WHERE {mine} AND state = 'pending' AND expires_at > now()",
    "quarantined": (
        "(SELECT id FROM inbox_inboundmessage WHERE {mine} AND state = 'quarantined' UNION"
        " SELECT inbound_message_id FROM inbox_email WHERE {mine} AND state = 'quarantined' AND deleted_at IS NULL) AS q"
    ),
    "unsent": (
        "inbox_outboundmessage WHERE {mine} AND (state = 'uncertain'"
        " OR (state = 'failed' AND created_at > now() - interval '7 days'))"
    ),
    "failed": "inbox_email WHERE {mine} AND state = 'failed' AND created_at > now() - interval '7 days'",
    "webhooks": (
        "webhooks_webhook WHERE {mine} AND deleted_at IS NULL AND (failing_since IS NOT NULL OR disabled_reason <> '')"
    ),
    "connections": "inbox_connection WHERE {mine} AND state IN ('degraded', 'expired')",
    "parked": "kernel_outboxevent WHERE {mine} AND published_at IS NULL AND parked_at IS NOT NULL",
    "unanswered": "inbox_thread WHERE {mine} AND status = 'open' AND first_unanswered_inbound_at IS NOT NULL",
}
_COUNTS = (f"(SELECT count(*) FROM (SELECT 1 FROM {part} LIMIT {CAP}) AS t)" for part in _PARTS.values())  # noqa: S608
_STATEMENT = "SELECT " + ", ".join(_COUNTS)
MINE, EVERYONE = "workspace_id = %(workspace)s", "true"
_PULSE = "SELECT extract(epoch FROM now() - at) FROM kernel_heartbeat WHERE name = 'beat'"


def waiting(request: HttpRequest) -> dict[str, int]:
    """The counts of this request's workspace; one query, however often they are asked for."""
    cached: dict[str, int] | None = getattr(request, "_console_counts", None)
    if cached is None:
        workspace_id = place_of(request).workspace_id
        with connection.cursor() as cursor:
            cursor.execute(_STATEMENT.format(mine=MINE if workspace_id else EVERYONE), {"workspace": workspace_id})
            cached = dict(zip(_PARTS, cursor.fetchone(), strict=True))
        request._console_counts = cached  # type: ignore[attr-defined]  # noqa: SLF001
    return cached


def shown(count: int) -> str:
    """A count as a badge: `99+` where counting stopped."""
    return "99+" if count >= CAP else str(count)


def pulse() -> dict[str, Any]:
    """How long ago the scheduler was last seen to work; silent ones are what stops everything else (FS-9)."""
    with connection.cursor() as cursor:
        cursor.execute(_PULSE)
        row = cursor.fetchone()
    age = float(row[0]) if row else None
    limit = max(60.0, settings.SWEEP_SECONDS * 12)
    return {"seen": age is not None, "age": age, "is_stale": age is None or age > limit}

"""How long an endpoint has been failing, and subscribing it off when that was too long.

The clock starts at the first failure after a success and is cleared by the next success. Failures are noted at most
twenty times within the period: that spares the row, and it makes "several failures, spread over the time" the condition.
Failures further apart than half the period are no continuous failing: the clock starts anew.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from webhooks.services import serving, subscribing
from webhooks.types import Result

_NOTES_PER_PERIOD = 20
_NOTES_NEEDED = 3

# Rows are locked in one order, so that two dispatchers never wait for each other. A row that somebody holds is passed over:
# the next result of its endpoint comes by again, and those of the others do not wait for whoever replays or enables.
_CLEAR = """
UPDATE webhooks_webhook SET failing_since = NULL, failure_noted_at = NULL, failures_noted = 0
WHERE id IN (
    SELECT id FROM webhooks_webhook WHERE id = ANY(%s::uuid[]) AND failing_since IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
"""

_NOTE = """
UPDATE webhooks_webhook SET
    failing_since = CASE WHEN failure_noted_at > %(at)s - %(idle)s THEN failing_since ELSE %(at)s END,
    failures_noted = CASE WHEN failure_noted_at > %(at)s - %(idle)s THEN failures_noted + 1 ELSE 1 END,
    failure_noted_at = %(at)s
WHERE id IN (
    SELECT id FROM webhooks_webhook
    WHERE id = ANY(%(ids)s::uuid[]) AND state = 'active'
      AND (failure_noted_at IS NULL OR failure_noted_at <= %(at)s - %(step)s)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
"""

_TOO_LONG = """
SELECT id::text FROM webhooks_webhook
WHERE id = ANY(%(ids)s::uuid[]) AND state = 'active' AND failing_since <= %(at)s - %(period)s AND failures_noted >= %(needed)s
"""


def note(*, results: Sequence[Result], failing: Collection[str], at: datetime) -> None:
    """Keep the clocks of the endpoints that `results` are about, and disable those that are gone or failed too long.

    `failing` are the endpoints whose clock may run: healthy ones cost nothing here. `at` is the database's time of the
    attempts' record, so that what failed then lies inside the gap that enabling replays.
    """
    succeeded = {result.claim.webhook_id for result in results if result.outcome.is_success}
    gone = {result.claim.webhook_id for result in results if result.outcome.is_gone}
    failed = {result.claim.webhook_id for result in results if not result.outcome.is_success} - succeeded | gone
    recovered = succeeded.intersection(failing) - gone
    if not failed and not recovered:
        return
    with serving.unit():
        _clear(recovered)
        for webhook_id in sorted(gone | _note_failures(failed, at)):
            reason = "The endpoint answered 410 Gone." if webhook_id in gone else _reason()
            subscribing.disable_failing(webhook_id=UUID(webhook_id), reason=reason)


def _clear(ids: set[str]) -> None:
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(_CLEAR, [sorted(ids)])


def _note_failures(failed: set[str], at: datetime) -> set[str]:
    """Note the failures; the endpoints whose time is up."""
    if not failed:
        return set()
    ids = sorted(failed)
    period: Any = timedelta(seconds=settings.WEBHOOK_DISABLE_AFTER_SECONDS)
    values = {"ids": ids, "at": at, "idle": period / 2, "step": period / _NOTES_PER_PERIOD}
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, values)
        cursor.execute(_TOO_LONG, {"ids": ids, "at": at, "period": period, "needed": _NOTES_NEEDED})
        return {row[0] for row in cursor.fetchall()}


def _reason() -> str:
    days = settings.WEBHOOK_DISABLE_AFTER_SECONDS / 86_400
    return f"Every attempt of {days:g} days failed."

"""Callbacks of providers (X-9): the app that understands one takes it, and says what became of it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from kernel.transactions import current_unit, in_all_workspaces
from webhooks.models import ProviderEvent
from webhooks.types import ProviderEventStatus

_CHUNK = 5_000
_PRUNE = """
DELETE FROM webhooks_providerevent WHERE id IN (
    SELECT id FROM webhooks_providerevent WHERE received_at < now() - %s ORDER BY received_at LIMIT %s)
"""


def claim(*, provider_event_id: UUID) -> ProviderEvent | None:
    """A callback of the current workspace that waits, locked until commit; None when it does not wait (any more)."""
    current_unit()
    rows = ProviderEvent.objects.select_for_update(no_key=True)
    return rows.filter(id=provider_event_id, status=ProviderEventStatus.RECEIVED).first()


def settle(*, provider_event_id: UUID, status: ProviderEventStatus, reason: str = "") -> None:
    """Say what became of a claimed callback. Needs a unit of work."""
    current_unit()
    ProviderEvent.objects.filter(id=provider_event_id).update(status=status, reason=reason[:200])


def prune(*, older_than: timedelta) -> int:
    """Forget callbacks past their time, in chunks that commit by themselves; how many."""
    age: Any = older_than
    total = 0
    while True:
        with in_all_workspaces("retention is of the whole estate"), connection.cursor() as cursor:
            cursor.execute(_PRUNE, [age, _CHUNK])
            deleted = int(cursor.rowcount)
        total += deleted
        if deleted < _CHUNK:
            return total

"""Forget old attempts. Deliveries and events stay: they are the record; an attempt is a detail of one try."""

from datetime import timedelta
from typing import Any

from django.db import connection

from kernel.transactions import in_all_workspaces

_CHUNK = 5_000

# In chunks that commit by themselves: no long lock, no long transaction, and a stop in the middle loses nothing. The ids
# rise with time, nearly, so that no index serves this alone; what a chunk leaves behind, the next day's run takes.
_PRUNE = """
DELETE FROM webhooks_webhookattempt WHERE id IN (
    SELECT id FROM webhooks_webhookattempt ORDER BY id LIMIT %s) AND at < now() - %s
"""


def prune_attempts(*, older_than: timedelta) -> int:
    """Delete attempts past their time; how many."""
    age: Any = older_than
    total = 0
    while True:
        with in_all_workspaces("retention is of the whole estate"), connection.cursor() as cursor:
            cursor.execute(_PRUNE, [_CHUNK, age])
            deleted = int(cursor.rowcount)
        total += deleted
        if deleted < _CHUNK:
            return total

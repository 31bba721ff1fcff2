"""The rows of a workspace's conversations, to prove that they are equal before and after."""

import hashlib
from uuid import UUID

from django.db import connection

from kernel.transactions import in_workspace

# Every column but the time of the last change, which the database sets with each change, also with the one back.
_ROWS = """
SELECT 'thread', to_jsonb(t)::text FROM (SELECT to_jsonb(r) - 'updated_at' FROM inbox_thread r) t(to_jsonb)
UNION ALL SELECT 'entry', (to_jsonb(r) - 'updated_at')::text FROM inbox_entry r
UNION ALL SELECT 'participant', to_jsonb(r)::text FROM inbox_threadparticipant r
UNION ALL SELECT 'reference', to_jsonb(r)::text FROM inbox_messagereference r
UNION ALL SELECT 'attachment', (to_jsonb(r) - 'updated_at')::text FROM inbox_attachment r
ORDER BY 1, 2
"""


def conversations(workspace_id: UUID) -> list[tuple[str, str]]:
    """All rows, readable."""
    with in_workspace(workspace_id), connection.cursor() as cursor:
        cursor.execute(_ROWS)
        return [(kind, row) for kind, row in cursor.fetchall()]


def row_hash(workspace_id: UUID) -> str:
    return hashlib.sha256(repr(conversations(workspace_id)).encode()).hexdigest()

"""How far a member has read."""

from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from kernel.transactions import joining

# One statement, which writes nothing and waits for nobody when that much was read before.
_READ = """
INSERT INTO inbox_threadreadstate AS state (id, workspace_id, thread_id, membership_id, last_read_seq)
SELECT %(id)s, %(workspace)s, %(thread)s, %(member)s, %(seq)s WHERE NOT EXISTS (
    SELECT 1 FROM inbox_threadreadstate
    WHERE thread_id = %(thread)s AND membership_id = %(member)s AND last_read_seq >= %(seq)s)
ON CONFLICT (thread_id, membership_id) DO UPDATE SET last_read_seq = excluded.last_read_seq
    WHERE state.last_read_seq < excluded.last_read_seq
"""


def mark_read(*, workspace_id: UUID, thread_id: UUID, membership_id: UUID, seq: int) -> None:
    """The member has seen the conversation up to `seq`. Never back: two devices may report in any order.

    It tells nobody and writes no audit: it is a bookmark, and one a second per reader would drown what matters.
    """
    values: dict[str, Any] = {
        "id": uuid4(),
        "workspace": workspace_id,
        "thread": thread_id,
        "member": membership_id,
        "seq": seq,
    }
    with joining(workspace_id), connection.cursor() as cursor:
        cursor.execute(_READ, values)

"""Caps on automatic answers: what stops a loop when every header that could have stopped it is gone (FS-6).

Each cap is one conditional upsert inside the transaction of the answer, so that parallel runs cannot pass it together,
and a rolled-back answer gives its share back.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection

from inbox.services import breaking
from kernel import clock

_TAKE = """
INSERT INTO inbox_autoreplyquota AS q (workspace_id, scope, key, "window", used) VALUES (%s, %s, %s, %s, 1)
ON CONFLICT ON CONSTRAINT inbox_one_quota_row_per_window DO UPDATE SET used = q.used + 1 WHERE q.used < %s
RETURNING used
"""


def take(*, workspace_id: UUID, inbox_id: UUID, thread_id: UUID, sender: str) -> str:
    """Count an automatic answer against every cap; the name of the cap that is reached, else an empty string.

    The caller rolls its unit of work back when a cap is reached.
    """
    now = clock.now()
    day = timedelta(hours=settings.AUTO_REPLY_HOURS)
    hour = timedelta(hours=1)
    caps = [
        ("thread", f"{thread_id}:{sender}", day, 1),
        ("sender", sender, hour, settings.AUTO_REPLY_SENDER_PER_HOUR),
        ("inbox", str(inbox_id), hour, settings.AUTO_REPLY_INBOX_PER_HOUR),
        ("workspace", str(workspace_id), hour, settings.AUTO_REPLY_WORKSPACE_PER_HOUR),
    ]
    if _answered_lately(thread_id, sender, now - day):
        return "thread"
    open_scope = breaking.stands(workspace_id=workspace_id, inbox_id=inbox_id, thread_id=thread_id, sender=sender)
    if open_scope:
        return open_scope
    with connection.cursor() as cursor:
        for scope, key, length, most in caps:
            cursor.execute(_TAKE, [workspace_id, scope, key[:400], _window(now, length), most])
            if cursor.fetchone() is None:
                return scope
    return ""


def _window(now: datetime, length: timedelta) -> datetime:
    """The start of the fixed window that holds `now`."""
    seconds = max(1, int(length.total_seconds()))
    return datetime.fromtimestamp(int(now.timestamp()) // seconds * seconds, tz=now.tzinfo)


def _answered_lately(thread_id: UUID, sender: str, since: datetime) -> bool:
    """A sliding look-back beside the fixed window, so that two answers cannot straddle its edge."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM inbox_entry e JOIN inbox_outboundmessage o ON o.entry_id = e.id WHERE e.thread_id = %s"
            " AND o.is_automatic AND o.created_at > %s AND %s = ANY(o.envelope_to) AND o.state <> 'failed' LIMIT 1",
            [thread_id, since, sender],
        )
        return cursor.fetchone() is not None

"""Circuit breakers: when a cap on automatic answers is reached, its scope rests, and people hear of it once (FS-6).

The caps themselves are in quotas.py. A breaker outlives its cap's hour, so that two machines which answer one another do
not begin anew with each hour; it closes by itself after its time, or when a person who has looked allows it.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from audit.services import record
from inbox.events import LoopCleared, LoopSuspected
from inbox.models import AutoReplyQuota, CircuitBreaker
from inbox.types import BreakerScope
from kernel import clock, context, outbox
from kernel.errors import Conflict, NotFound
from kernel.transactions import current_unit, in_workspace

# One statement, so that of many that are held back at once one opens it. A breaker whose time is over opens anew.
_HOLD = """
INSERT INTO inbox_circuitbreaker AS b (id, workspace_id, inbox_id, scope, key, opened_at, open_until, held, last_held_at)
VALUES (%(id)s, %(workspace)s, %(inbox)s, %(scope)s, %(key)s, %(now)s, %(until)s, 1, %(now)s)
ON CONFLICT (workspace_id, scope, key) WHERE closed_at IS NULL DO UPDATE SET last_held_at = %(now)s,
    held = CASE WHEN b.open_until <= %(now)s THEN 1 ELSE b.held + 1 END,
    opened_at = CASE WHEN b.open_until <= %(now)s THEN %(now)s ELSE b.opened_at END,
    open_until = CASE WHEN b.open_until <= %(now)s THEN %(until)s ELSE b.open_until END
RETURNING b.id, b.opened_at = %(now)s
"""


class OneAnswerADay(Conflict):
    """The rule of one automatic answer per conversation, sender and day is no breaker that a person could close."""

    code = "one_answer_a_day"


def keys(*, workspace_id: UUID, inbox_id: UUID, thread_id: UUID, sender: str) -> dict[str, str]:
    """What each scope counts by."""
    found = {
        BreakerScope.THREAD: f"{thread_id}:{sender}",
        BreakerScope.SENDER: sender,
        BreakerScope.INBOX: str(inbox_id),
        BreakerScope.WORKSPACE: str(workspace_id),
        BreakerScope.HOPS: f"{thread_id}:{sender}",
    }
    return {scope.value: key[:400] for scope, key in found.items()}


def stands(*, workspace_id: UUID, inbox_id: UUID, thread_id: UUID, sender: str) -> str:
    """The scope of an open breaker that an automatic answer would meet; empty when there is none."""
    wanted = keys(workspace_id=workspace_id, inbox_id=inbox_id, thread_id=thread_id, sender=sender)
    wide = {scope: wanted[scope] for scope in (BreakerScope.SENDER, BreakerScope.INBOX, BreakerScope.WORKSPACE)}
    rows = CircuitBreaker.objects.filter(closed_at=None, open_until__gt=clock.now(), scope__in=list(wide))
    found = set(rows.filter(key__in=wide.values()).values_list("scope", "key"))
    return next((scope for scope, key in wide.items() if (scope, key) in found), "")


def hold(*, workspace_id: UUID, inbox_id: UUID, thread_id: UUID, sender: str, cap: str) -> bool:
    """Count a held answer; whether this opened the breaker, of which people and integrators are told. Needs a unit of work."""
    current_unit()
    now = clock.now()
    values: dict[str, Any] = {
        "id": uuid4(),
        "workspace": workspace_id,
        "inbox": inbox_id,
        "scope": cap,
        "key": keys(workspace_id=workspace_id, inbox_id=inbox_id, thread_id=thread_id, sender=sender)[cap],
        "now": now,
        "until": now + _duration(cap),
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, values)
        breaker_id, is_opened = cursor.fetchone()
    if is_opened:
        outbox.emit(
            LoopSuspected(
                workspace_id=workspace_id, inbox_id=inbox_id, thread_id=thread_id, cap=cap, breaker_id=breaker_id
            )
        )
        record(
            workspace_id=workspace_id,
            action="breaker.open",
            resource_kind="circuit_breaker",
            resource_id=breaker_id,
            payload={"scope": cap, "inbox_id": str(inbox_id), "thread_id": str(thread_id)},
        )
    return bool(is_opened)


def _duration(cap: str) -> timedelta:
    if cap in (BreakerScope.INBOX, BreakerScope.WORKSPACE):
        return timedelta(hours=settings.AUTO_REPLY_WIDE_BREAKER_HOURS)
    return timedelta(hours=settings.AUTO_REPLY_BREAKER_HOURS)


def close(*, workspace_id: UUID, breaker_id: UUID) -> CircuitBreaker:
    """A person has looked and allows automatic answers again; the cap counts anew. Raises NotFound, Conflict."""
    with in_workspace(workspace_id):
        breaker = CircuitBreaker.objects.select_for_update(no_key=True).filter(id=breaker_id).first()
        if breaker is None:
            raise NotFound
        if breaker.scope in (BreakerScope.THREAD, BreakerScope.HOPS):
            raise OneAnswerADay("A conversation gets one automatic answer a day. A person can answer it at any time.")
        if breaker.closed_at is not None:
            raise Conflict("This breaker was closed before.")
        who = context.actor.get()
        breaker.closed_at, breaker.closed_by = clock.now(), who.label or who.kind
        breaker.save(update_fields=["closed_at", "closed_by"])
        AutoReplyQuota.objects.filter(workspace_id=workspace_id, scope=breaker.scope, key=breaker.key).delete()
        outbox.emit(LoopCleared(workspace_id=workspace_id, inbox_id=breaker.inbox_id, breaker_id=breaker.id))
        record(
            workspace_id=workspace_id,
            action="breaker.close",
            resource_kind="circuit_breaker",
            resource_id=breaker.id,
            payload={"scope": breaker.scope, "held": breaker.held},
        )
    return breaker

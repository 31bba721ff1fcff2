"""Ends of sessions: one, the others, all of a person. An ended session is refused at its next request, everywhere."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from audit.services import record
from kernel import clock
from kernel.context import ESTATE
from kernel.errors import NotFound
from kernel.transactions import in_workspace
from tenancy.models import DeviceSession, User
from tenancy.queries import people

# Ended sessions stay a while, for "when did I sign out of that?".
KEPT = timedelta(days=30)


def end(*, user: User, session_id: UUID) -> None:
    """End one session of a person; NotFound when it is not theirs, or has ended."""
    with in_workspace(ESTATE):
        if not _end(people.open_sessions(user).filter(id=session_id)):
            raise NotFound("This session has ended already.")
        _note(user, "session.end", session_id=session_id)


def end_others(*, user: User, but: UUID | None) -> int:
    """End every session of a person but one; how many."""
    with in_workspace(ESTATE):
        others = people.open_sessions(user)
        ended = _end(others.exclude(id=but) if but else others)
        _note(user, "session.end_others", ended=ended)
    return ended


def end_all(*, user: User, why: str) -> int:
    """End every session of a person; how many."""
    with in_workspace(ESTATE):
        ended = _end(DeviceSession.objects.filter(user=user, revoked_at=None))
        _note(user, "session.end_all", ended=ended, why=why)
    return ended


def prune() -> int:
    """Delete sessions that nobody can use any more; how many."""
    now = clock.now()
    idle_since = now - timedelta(seconds=settings.SESSION_IDLE_SECONDS)
    over = Q(expires_at__lte=now) | Q(last_seen_at__lte=idle_since) | Q(revoked_at__isnull=False)
    anonymous = DeviceSession.objects.filter(over, user=None)
    old = now - KEPT
    long_over = Q(expires_at__lte=old) | Q(last_seen_at__lte=old) | Q(revoked_at__lte=old)
    personal = DeviceSession.objects.filter(long_over, user__isnull=False)
    return anonymous.delete()[0] + personal.delete()[0]


def _end(rows: QuerySet[DeviceSession]) -> int:
    """In one statement, and what they held is gone."""
    return DeviceSession.objects.filter(id__in=rows.values("id"), revoked_at=None).update(
        revoked_at=clock.now(), data=b""
    )


def _note(user: User, action: str, **details: object) -> None:
    record(workspace_id=ESTATE, action=action, resource_kind="user", resource_id=user.pk, payload=details)

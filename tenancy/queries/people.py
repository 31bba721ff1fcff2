"""A person's own: where they are signed in, and how sign-ins went."""

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet

from kernel import clock
from tenancy import normalise
from tenancy.models import DeviceSession, LoginEvent, User


def by_email(email: str) -> User | None:
    """The active person of an address, in any spelling of it."""
    return User.objects.filter(email=normalise.email(email), is_active=True).first()


def open_sessions(user: User) -> QuerySet[DeviceSession]:
    """Where a person is signed in now, the latest in use first."""
    now = clock.now()
    idle_since = now - timedelta(seconds=settings.SESSION_IDLE_SECONDS)
    rows = DeviceSession.objects.filter(user=user, revoked_at=None, expires_at__gt=now, last_seen_at__gt=idle_since)
    return rows.defer("data").order_by("-last_seen_at", "id")


def sign_ins(user: User) -> QuerySet[LoginEvent]:
    """How attempts to be this person went, newest first."""
    return LoginEvent.objects.filter(user_id=user.pk).order_by("-at", "-id")

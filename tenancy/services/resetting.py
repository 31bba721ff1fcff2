"""New passwords for who has forgotten theirs.

Who asks gets one answer, after the same work: a row. The worker that mails finds out whether the address has an account.
A link is good once and for a while, and using it ends every session of the person.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from audit.services import record
from kernel import clock
from kernel.context import ESTATE, Actor, acting_as
from kernel.errors import NotFound
from kernel.transactions import in_workspace
from tenancy import normalise
from tenancy.credentials import links
from tenancy.credentials.devices import Origin
from tenancy.models import ResetToken, User
from tenancy.services import mailing, passwords, sessions, throttling
from tenancy.services.signing_in import TooManyTries
from tenancy.services.throttling import Counter


class LinkOver(NotFound):
    """One answer for every link that is not good: unknown, used, over."""

    code = "link_over"

    def __init__(self) -> None:
        super().__init__("This link is not good any more. Ask for a new one.")


def ask(*, email: str, origin: Origin) -> None:
    """Somebody wants a new password for an address. Says nothing; TooManyTries when this origin asks too often."""
    address = normalise.email(email)[:254]
    taken = throttling.take(
        Counter("reset", address, settings.RESETS_PER_WINDOW),
        Counter("reset address", origin.network, settings.LOGIN_ADDRESS_TRIES),
    )
    if any(counter.kind == "reset address" for counter in taken.full):
        raise TooManyTries(f"Too many requests from here. Wait {taken.minutes_left} minutes, then try again.")
    with in_workspace(ESTATE):
        row = ResetToken(email=address, address=origin.address, expires_at=_end())
        # Too many letters for one address: the row is written all the same, so that the answer takes as long.
        if taken.is_allowed:
            mailing.mark(row)
        row.save(force_insert=True)


def issue(*, user: User) -> str:
    """A link for a person, shown to the operator who asked for it, once."""
    with in_workspace(ESTATE):
        token = links.new_token()
        row = ResetToken.objects.create(email=user.email, user=user, token_hash=links.digest(token), expires_at=_end())
        record(
            workspace_id=ESTATE,
            action="user.issue_reset",
            resource_kind="user",
            resource_id=user.pk,
            payload={"reset_id": row.id},
        )
    return mailing.link_to(path(token))


def is_good(token: str) -> bool:
    """Whether a link can be used."""
    return _usable(token).exists()


def reset(*, token: str, password: str) -> User:
    """Use a link. LinkOver when it is not good (any more): of many at the same time, one uses it."""
    row = _usable(token).select_related("user").first()
    if row is None or row.user is None:
        raise LinkOver
    user = row.user
    passwords.check(password, user=user)
    with acting_as(Actor(kind="user", id=str(user.pk), label=str(user))), in_workspace(ESTATE):
        # In one statement on one row: a condition on another table would not be asked again by who waited.
        if not ResetToken.objects.filter(id=row.id, used_at=None).update(used_at=clock.now(), token_hash=None):
            raise LinkOver
        passwords.change(user=user, password=password, how="reset")
        sessions.end_all(user=user, why="new password")
        ResetToken.objects.filter(user=user, used_at=None).update(used_at=clock.now(), token_hash=None)
    return user


def prune() -> int:
    """Delete what is over."""
    return ResetToken.objects.filter(expires_at__lte=clock.now() - timedelta(days=1)).delete()[0]


def path(token: str) -> str:
    """Where a link leads."""
    return f"/console/password/new/{token}/"


def _usable(token: str) -> QuerySet[ResetToken]:
    return ResetToken.objects.filter(
        token_hash=links.digest(token), used_at=None, expires_at__gt=clock.now(), user__is_active=True
    )


def _end() -> datetime:
    return clock.now() + timedelta(minutes=settings.RESET_MINUTES)

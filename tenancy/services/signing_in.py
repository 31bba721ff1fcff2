"""Proving who one is: every check of a password or code is counted first, and leaves a LoginEvent, however it ends.

A refusal says the same, and takes as long, whether there is such an account or not. What is counted keeps nobody out of
sessions that are open: those ask no password, and proving again within one has counters of its own.
"""

from typing import NoReturn
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import connection

from audit.services import record
from audit.types import Outcome
from kernel import context
from kernel.context import ESTATE, Actor, acting_as
from kernel.errors import Busy
from kernel.transactions import in_workspace
from tenancy import normalise
from tenancy.credentials.devices import Origin
from tenancy.models import LoginEvent, User
from tenancy.services import throttling
from tenancy.services.throttling import Counter, Taken
from tenancy.types import LoginMethod, LoginOutcome


class TooManyTries(Busy):
    code = "too_many_tries"


def by_password(*, email: str, password: str, origin: Origin) -> User | None:
    """The person whose password this is; None for every other, TooManyTries when there is no room for a try."""
    address = normalise.email(email)
    taken = _taken(LoginMethod.PASSWORD, "account", address, origin)
    user = User.objects.filter(email=address).first()
    if not taken.is_allowed:
        _refuse(taken, LoginMethod.PASSWORD, origin, user=user, email=address)
    if user is None:
        # As much work as for somebody.
        make_password(password)
        note(LoginOutcome.UNKNOWN_ACCOUNT, LoginMethod.PASSWORD, origin, email=address)
        return None
    # The hash is lifted to the configured cost when it is right (Django's own check does).
    is_right = user.check_password(password)
    if not (is_right and user.is_active):
        outcome = LoginOutcome.INACTIVE if is_right else LoginOutcome.WRONG_PASSWORD
        note(outcome, LoginMethod.PASSWORD, origin, user=user, email=address)
        return None
    throttling.give_back(taken)
    return user


def by_password_again(*, user: User, password: str, origin: Origin) -> bool:
    """Whether somebody who is signed in knows their password (step-up)."""
    taken = throttling.take(Counter("step-up", str(user.pk), settings.LOGIN_TRIES))
    if not taken.is_allowed:
        _refuse(taken, LoginMethod.PASSWORD, origin, user=user, email=user.email, is_step_up=True)
    is_right = user.check_password(password)
    if is_right:
        throttling.give_back(taken)
    outcome = LoginOutcome.SUCCESS if is_right else LoginOutcome.WRONG_PASSWORD
    note(outcome, LoginMethod.PASSWORD, origin, user=user, is_step_up=True)
    return is_right


def try_code(*, user: User, origin: Origin, method: LoginMethod, is_step_up: bool) -> Taken:
    """Room for a try of a code or passkey by somebody who knew the password, or is signed in; TooManyTries when none."""
    kind = "step-up code" if is_step_up else "code"
    taken = throttling.take(Counter(kind, str(user.pk), settings.LOGIN_TRIES))
    if not taken.is_allowed:
        _refuse(taken, method, origin, user=user, email=user.email, is_step_up=is_step_up)
    return taken


def note(
    outcome: LoginOutcome,
    method: LoginMethod,
    origin: Origin,
    *,
    user: User | None = None,
    email: str = "",
    is_step_up: bool = False,
) -> None:
    """Write down how an attempt ended."""
    LoginEvent.objects.create(
        user_id=user.pk if user else None,
        email=(email or (user.email if user else ""))[:254],
        outcome=outcome,
        method=method,
        is_step_up=is_step_up,
        address=origin.address,
        device=origin.device,
        user_agent=origin.user_agent,
        request_id=context.request_id.get()[:64],
    )


def forget(*, days: int) -> int:
    """Forget attempts that are older than `days`, 30 at least; how many. The database lets nothing younger go."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenancy_forget_logins_v1(%s)", [days])
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _taken(method: LoginMethod, kind: str, subject: str, origin: Origin) -> Taken:
    return throttling.take(
        Counter(kind, subject, settings.LOGIN_TRIES),
        Counter("address", f"{method}\x00{origin.network}", settings.LOGIN_ADDRESS_TRIES),
    )


def _refuse(
    taken: Taken, method: LoginMethod, origin: Origin, *, user: User | None, email: str, is_step_up: bool = False
) -> NoReturn:
    """Say so to who asks, note it, and tell the trail once in a window."""
    note(LoginOutcome.LOCKED, method, origin, user=user, email=email, is_step_up=is_step_up)
    who = Actor("user", str(user.pk), str(user)) if user and is_step_up else Actor("anonymous", origin.address)
    for counter in taken.first_full:
        with acting_as(who), in_workspace(ESTATE):
            record(
                workspace_id=ESTATE,
                action="login.lock",
                resource_kind="user" if user else counter.kind,
                resource_id=_named(user.pk if user else None, counter, origin),
                outcome=Outcome.DENIED,
                payload={
                    "counter": counter.kind,
                    "address": origin.address,
                    "until": taken.until,
                    "tries": counter.most,
                },
            )
    raise TooManyTries(f"Too many failed tries. Wait {taken.minutes_left} minutes, then try again.")


def _named(user_id: UUID | None, counter: Counter, origin: Origin) -> str:
    return str(user_id) if user_id else origin.network if counter.kind == "address" else counter.key.hex()[:16]

"""Passwords: what one has to be, and its change by who knows the old one."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from audit.services import record
from kernel.context import ESTATE
from kernel.errors import Invalid
from kernel.transactions import in_workspace
from tenancy.models import User


def check(password: str, *, user: User) -> None:
    """Invalid says what is wrong with it, for this person."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), pointer="/password") from error


def change(*, user: User, password: str, how: str) -> None:
    """Give a person a new password. Ending their other sessions is for the caller, who knows which one is at work."""
    check(password, user=user)
    with in_workspace(ESTATE):
        user.set_password(password)
        user.save(update_fields=["password"])
        record(
            workspace_id=ESTATE,
            action="user.change_password",
            resource_kind="user",
            resource_id=user.pk,
            payload={"how": how},
        )

"""People of the installation: what they say of themselves, their second factors, and who may not sign in any more."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from audit.services import record
from kernel.context import ESTATE
from kernel.errors import Invalid
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Membership, User
from tenancy.services import leaving, sessions
from tenancy.services.members import LastOwner


def change_profile(*, user: User, name: str, timezone: str) -> User:
    """What a person may change about themselves by their word alone."""
    user.name, user.timezone = name.strip(), timezone
    try:
        user.clean_fields(exclude={field.name for field in User._meta.fields} - {"name", "timezone"})
    except ValidationError as error:
        field, texts = next(iter(error.message_dict.items()))
        raise Invalid(" ".join(texts), pointer=f"/{field}") from error
    with in_workspace(ESTATE):
        user.save(update_fields=["name", "timezone"])
        _note(user, "user.change", changed=["name", "timezone"])
    return user


def note_factor(user: User, verb: str, *, kind: str, name: str = "") -> None:
    """A second factor was added, removed or renewed; written down in the transaction of that."""
    with in_workspace(ESTATE):
        _note(user, f"user.{verb}_factor", kind=kind, name=name[:100])


def deactivate(*, user: User) -> None:
    """Shut a person out of the installation: every session ends, no sign-in works, whichever way, and what they had issued
    in any workspace is revoked."""
    with in_workspace(ESTATE):
        try:
            with transaction.atomic():
                user.is_active = False
                user.save(update_fields=["is_active"])
        except IntegrityError as error:
            raise LastOwner(
                "They are the only owner of a workspace. Make somebody else an owner of it first."
            ) from error
        sessions.end_all(user=user, why="deactivated")
        _note(user, "user.deactivate")
        for member in _memberships(user):
            with in_workspace(member.workspace_id):
                leaving.end_issued(member)


def reactivate(*, user: User) -> None:
    """Let a person sign in again."""
    with in_workspace(ESTATE):
        user.is_active = True
        user.save(update_fields=["is_active"])
        _note(user, "user.reactivate")


def _memberships(user: User) -> list[Membership]:
    with in_all_workspaces("a person leaves the installation"):
        return list(Membership.objects.filter(user=user).order_by("workspace_id"))


def _note(user: User, action: str, **details: object) -> None:
    record(workspace_id=ESTATE, action=action, resource_kind="user", resource_id=user.pk, payload=details)

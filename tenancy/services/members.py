"""Members of a workspace: who is let in again, and which roles they hold. How they go is in `leaving`.

Whatever is done here holds at the person's next request: the console asks for membership and roles anew each time. That
a workspace keeps an owner is the database's to say (`tenancy_keep_an_owner_v1`), however many try at the same time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from audit.services import record
from kernel import outbox
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_workspace
from tenancy.events import MemberChanged, MemberReactivated, MemberRolesChanged
from tenancy.models import Membership, MembershipRole, Role
from tenancy.queries import members
from tenancy.services import granting
from tenancy.types import MembershipStatus

# The SQLSTATE with which the trigger refuses.
_LAST_OWNER = "23001"


class LastOwner(Conflict):
    code = "last_owner"


def reactivate(*, workspace_id: UUID, membership_id: UUID, may: frozenset[str] = granting.EVERYTHING) -> Membership:
    """Let a suspended member in again, with the roles that they had."""
    with in_workspace(workspace_id):
        member = locked(membership_id, may)
        expect(member, MembershipStatus.SUSPENDED, "Only a suspended member can be reactivated.")
        move(member, MembershipStatus.ACTIVE, suspended_at=None)
        note(member, "reactivate", MemberReactivated)
    return member


def give_roles(
    *,
    workspace_id: UUID,
    membership_id: UUID,
    role_ids: Sequence[UUID],
    may: frozenset[str] = granting.EVERYTHING,
) -> Membership:
    """Make these the roles of a member. Nobody gives a role, or takes one away, that may more than they do."""
    with in_workspace(workspace_id):
        member = locked(membership_id, may)
        if member.status == MembershipStatus.REMOVED:
            raise Conflict("This person is no longer a member. Invite them again.")
        roles = checked_roles(role_ids, may=may)
        held = set(MembershipRole.objects.filter(membership=member).values_list("role_id", flat=True))
        wanted = {role.id for role in roles}
        # First what is given: with it in place, taking the owner's role from its last holder is all that is refused.
        hold(member, [role for role in roles if role.id not in held])
        with an_owner_stays():
            MembershipRole.objects.filter(membership=member, role_id__in=held - wanted).delete()
        # The member has changed, and with it `updated_at`, though no column of the row has.
        member.save(update_fields=["status"])
        member.refresh_from_db()
        note(member, "give_roles", MemberRolesChanged, roles=sorted(role.name for role in roles))
    return member


def checked_roles(role_ids: Sequence[UUID], *, may: frozenset[str]) -> list[Role]:
    """The roles of these ids, each once; Invalid for one that the workspace does not have, Forbidden for too mighty ones."""
    found = list(Role.objects.filter(id__in=set(role_ids)).order_by("name"))
    if len(found) != len(set(role_ids)) or not found:
        raise Invalid("Name one role or more of this workspace, by id; GET /roles lists them.", pointer="/roles")
    for role in found:
        granting.checked_scopes(members.permissions_of([role.id]), may=may)
    return found


def hold(member: Membership, roles: Sequence[Role]) -> None:
    """Add roles to a member."""
    MembershipRole.objects.bulk_create(
        [MembershipRole(workspace_id=member.workspace_id, membership=member, role=role) for role in roles],
        ignore_conflicts=True,
    )


def locked(membership_id: UUID, may: frozenset[str]) -> Membership:
    """The member, locked. Who may less than they do changes nothing about them."""
    members.member(membership_id)
    row = Membership.objects.select_related("user").select_for_update(of=("self",), no_key=True).get(id=membership_id)
    held = list(MembershipRole.objects.filter(membership=row).values_list("role_id", flat=True))
    granting.checked_scopes(members.permissions_of(held), may=may)
    return row


def expect(member: Membership, status: MembershipStatus, otherwise: str) -> None:
    """Conflict unless the member stands like that."""
    if member.status != status:
        raise Conflict(otherwise)


def move(member: Membership, status: MembershipStatus, **fields: Any) -> None:
    """To another status, with what goes with it."""
    member.status = status
    for name, value in fields.items():
        setattr(member, name, value)
    member.save(update_fields=["status", *fields])
    member.refresh_from_db()


@contextmanager
def an_owner_stays() -> Iterator[None]:
    """A savepoint in which the trigger's refusal becomes a sentence."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if getattr(error.__cause__, "sqlstate", "") != _LAST_OWNER:
            raise
        raise LastOwner("A workspace keeps at least one active owner. Make somebody else an owner first.") from error


def note(member: Membership, verb: str, event: type[MemberChanged], **details: Any) -> None:
    """The record and the fact of a change, in its unit of work."""
    record(
        workspace_id=member.workspace_id,
        action=f"member.{verb}",
        resource_kind="membership",
        resource_id=member.id,
        payload={"user_id": member.user_id, "email": member.user.email} | details,
    )
    outbox.emit(event(workspace_id=member.workspace_id, membership_id=member.id))

"""Roles that the people of a workspace make, and who holds a role. Nobody makes, gives or takes more than they have."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from audit.services import record
from kernel import outbox
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.transactions import in_workspace, unit_of_work
from tenancy import permissions
from tenancy.events import RoleChanged, RoleCreated, RoleDeleted, RoleGiven, RoleTaken
from tenancy.models import Membership, MembershipRole, Role, RolePermission
from tenancy.queries import roles as queries
from tenancy.services.granting import checked_scopes
from tenancy.services.members import an_owner_stays

_CHANGEABLE = frozenset({"name", "description", "permissions"})


class RoleReadOnly(Conflict):
    code = "role_read_only"


class RoleInUse(Conflict):
    code = "role_in_use"


class RoleNameTaken(Conflict):
    code = "role_name_taken"


def create(
    *, workspace_id: UUID, name: str, permissions: Sequence[str], may: frozenset[str], description: str = ""
) -> Role:
    """Make a role. Invalid, Forbidden for what `may` does not cover, RoleNameTaken."""
    granted = _granted(permissions, may=may)
    with in_workspace(workspace_id):
        row = Role(workspace_id=workspace_id, name=_named(name), description=_described(description))
        _write(row, granted, is_new=True)
        outbox.emit(RoleCreated(workspace_id=workspace_id, role_id=row.id))
        _record(row, "role.create", permissions=granted)
        return queries.role(row.id)


def change(*, workspace_id: UUID, role_id: UUID, changes: Mapping[str, Any], may: frozenset[str]) -> Role:
    """Change name, description or permissions. What the role grants already may stay, whoever changes it; what is put
    in and what is taken out, `may` must cover."""
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown:
        raise Invalid(f"These cannot be changed: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        row = _own(role_id)
        before = queries.grants_of(queries.role(role_id))
        wanted = changes.get("permissions", before)
        granted = _granted(wanted, may=may | frozenset(before))
        _check_taken(set(before) - set(granted), may=may)
        row.name = _named(changes.get("name", row.name), own=row.name)
        row.description = _described(changes.get("description", row.description))
        _write(row, granted, is_new=False)
        outbox.emit(RoleChanged(workspace_id=workspace_id, role_id=row.id))
        _record(row, "role.change", permissions=granted, permissions_before=before)
        return queries.role(row.id)


def delete(*, workspace_id: UUID, role_id: UUID, may: frozenset[str]) -> None:
    """Delete a role that nobody holds; RoleInUse otherwise. Invitations lose it, so it is a taking like any other."""
    with in_workspace(workspace_id):
        row = _own(role_id)
        _check_taken(queries.grants_of(queries.role(role_id)), may=may)
        if MembershipRole.objects.filter(role_id=row.id).exists():
            raise RoleInUse("Members hold this role. Take it from them first.")
        _record(row, "role.delete")
        outbox.emit(RoleDeleted(workspace_id=workspace_id, role_id=row.id))
        try:
            with unit_of_work():
                row.delete()
        except IntegrityError as error:
            raise RoleInUse("Members hold this role. Take it from them first.") from error


def give(*, workspace_id: UUID, role_id: UUID, membership_id: UUID, may: frozenset[str]) -> MembershipRole:
    """Give a role to a member, who has it at their next request. Giving it again changes nothing."""
    with in_workspace(workspace_id):
        role, membership = _both(role_id, membership_id, may=may)
        link, is_new = MembershipRole.objects.get_or_create(workspace_id=workspace_id, membership=membership, role=role)
        if is_new:
            outbox.emit(RoleGiven(workspace_id=workspace_id, role_id=role.id, membership_id=membership.id))
            _record(role, "role.give", membership_id=membership.id)
        return link


def take(*, workspace_id: UUID, role_id: UUID, membership_id: UUID, may: frozenset[str]) -> None:
    """Take a role from a member, who is without it at their next request. LastOwner when nobody would own the workspace."""
    with in_workspace(workspace_id):
        role, membership = _both(role_id, membership_id, may=may)
        link = MembershipRole.objects.filter(membership=membership, role=role).first()
        if link is None:
            raise NotFound("This member does not have that role.")
        _record(role, "role.take", membership_id=membership.id)
        outbox.emit(RoleTaken(workspace_id=workspace_id, role_id=role.id, membership_id=membership.id))
        with an_owner_stays():
            link.delete()


def _granted(wanted: Sequence[str], *, may: frozenset[str]) -> list[str]:
    return checked_scopes(wanted, may=may, pointer="/permissions")


def _check_taken(lost: Iterable[str], *, may: frozenset[str]) -> None:
    missing = sorted(scope for scope in lost if not permissions.covers(may, scope))
    if missing:
        raise Forbidden(
            f"You do not have the permission {missing[0]!r} yourself, so you cannot take it away.",
            permission=missing[0],
        )


def _named(name: str, *, own: str = "") -> str:
    words = " ".join(name.split())
    if not 0 < len(words) <= 60:
        raise Invalid("A name has 1 to 60 characters.", pointer="/name")
    if words != own and words.lower() in permissions.SYSTEM_ROLES:
        raise RoleNameTaken("A role of the system has this name. Choose another one.")
    return words


def _described(text: str) -> str:
    if len(text) > 200:
        raise Invalid("A description has at most 200 characters.", pointer="/description")
    return text.strip()


def _own(role_id: UUID) -> Role:
    """A role of the workspace's own, locked."""
    row = Role.objects.select_for_update().filter(id=role_id).first()
    if row is None:
        raise NotFound
    if row.is_system:
        raise RoleReadOnly("Roles of the system are the same in every workspace. Make a role of your own instead.")
    return row


def _write(row: Role, granted: Sequence[str], *, is_new: bool) -> None:
    try:
        with unit_of_work():
            if is_new:
                row.save(force_insert=True)
            else:
                row.save(update_fields=["name", "description"])
            RolePermission.objects.filter(role=row).exclude(permission__in=granted).delete()
            RolePermission.objects.bulk_create(
                [RolePermission(workspace_id=row.workspace_id, role=row, permission=name) for name in granted],
                ignore_conflicts=True,
            )
    except IntegrityError as error:
        raise RoleNameTaken("Another role has this name. Choose another one.") from error


def _both(role_id: UUID, membership_id: UUID, *, may: frozenset[str]) -> tuple[Role, Membership]:
    role = queries.role(role_id)
    membership = Membership.objects.filter(id=membership_id).first()
    if membership is None:
        raise NotFound
    missing = [scope for scope in queries.grants_of(role) if not permissions.covers(may, scope)]
    if missing:
        raise Forbidden(
            f"The role {role.name!r} grants {missing[0]!r}, which you do not have, so you cannot give or take it.",
            permission=missing[0],
        )
    return role, membership


def _record(row: Role, action: str, **payload: Any) -> None:
    record(
        workspace_id=row.workspace_id,
        action=action,
        resource_kind="role",
        resource_id=row.id,
        payload={"name": row.name, **payload},
    )

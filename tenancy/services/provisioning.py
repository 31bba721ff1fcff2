"""Workspaces come into being here: by the account hook, by an operator, or with the first owner."""

import secrets
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection

from audit.services import record
from kernel import clock, outbox
from kernel.errors import Conflict, Invalid
from kernel.transactions import current_unit, in_all_workspaces, in_workspace, unit_of_work
from tenancy.events import MemberJoined, WorkspaceProvisioned
from tenancy.models import Installation, Membership, MembershipRole, Role, User, Workspace
from tenancy.services import seeding
from tenancy.types import MembershipStatus


class AlreadyOwned(Conflict):
    code = "installation_already_owned"


def provision(
    *, external_id: UUID, name: str, timezone: str = "UTC", workspace_id: UUID | None = None, **fields: Any
) -> tuple[Workspace, bool]:
    """The workspace of an account, made when it is new; (workspace, created). Idempotent on `external_id` (S0-6)."""
    with in_all_workspaces("the account hook finds workspaces by their external id"):
        existing = Workspace.objects.filter(external_id=external_id).first()
        if existing:
            _refuse_deleted(existing)
            return existing, False
        workspace = Workspace(external_id=external_id, name=name, timezone=timezone, ref=new_ref(), **fields)
        if workspace_id:
            workspace.id = workspace_id
        made = _insert(workspace)
        if made:
            seeding.seed(workspace_id=workspace.id)
            event = WorkspaceProvisioned(workspace_id=workspace.id, external_id=external_id, ref=workspace.ref)
            outbox.emit(event)
            record(
                workspace_id=workspace.id,
                action="workspace.provision",
                resource_kind="workspace",
                resource_id=workspace.id,
                payload={"external_id": external_id, "name": name},
            )
            return workspace, True
        winner = Workspace.objects.filter(external_id=external_id).first()
        if winner is None:
            raise Conflict("Another workspace has this ticket prefix. Choose a different one.")
        _refuse_deleted(winner)
        return winner, False


def _refuse_deleted(workspace: Workspace) -> None:
    """Re-creating is no way back (S0-28)."""
    if workspace.deleted_at is not None:
        raise Conflict("This external id cannot be used. Ask an operator to restore what it belongs to.")


def _insert(workspace: Workspace) -> bool:
    """False when a concurrent call was first: it has committed by the time that the conflict is seen."""
    try:
        workspace.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        name, texts = next(iter(error.message_dict.items()))
        raise Invalid(" ".join(texts), pointer=f"/{name}") from error
    return bool(Workspace.objects.bulk_create([workspace], ignore_conflicts=True)) and (
        Workspace.objects.filter(id=workspace.id).exists()
    )


def new_ref() -> str:
    """A public short form, unguessable and without look-alike letters."""
    return "ws_" + "".join(secrets.choice("abcdefghjkmnpqrstvwxyz23456789") for _ in range(16))


def claim_installation() -> None:
    """Lock the installation until the unit of work ends; AlreadyOwned when somebody owns it."""
    current_unit()
    with connection.cursor() as cursor:
        cursor.execute("SELECT owner_id FROM tenancy_installation WHERE id = 1 FOR UPDATE")
        row = cursor.fetchone()
    if row is None or row[0] is not None:
        raise AlreadyOwned("This installation has an owner. Ask them for an invitation.")


def create_first_owner(*, email: str, password: str, workspace: Workspace, name: str = "") -> User:
    """The person who may do everything, once for an installation; AlreadyOwned afterwards, however many try at once."""
    with unit_of_work():
        claim_installation()
        user = User.objects.create_user(email, password, name=name, is_staff=True, is_operator=True)
        Installation.objects.filter(id=1).update(owner_id=user.id, owned_at=clock.now())
        add_owner(user=user, workspace=workspace)
    return user


def add_owner(*, user: User, workspace: Workspace) -> Membership:
    """Make a person an owner of a workspace."""
    with in_workspace(workspace.id):
        membership, is_new = Membership.objects.get_or_create(
            workspace=workspace,
            user=user,
            defaults={"status": MembershipStatus.ACTIVE, "accepted_at": clock.now()},
        )
        if is_new:
            outbox.emit(MemberJoined(workspace_id=workspace.id, membership_id=membership.id))
        role = Role.objects.get(name="owner", is_system=True)
        MembershipRole.objects.get_or_create(workspace=workspace, membership=membership, role=role)
        record(
            workspace_id=workspace.id,
            action="member.add",
            resource_kind="membership",
            resource_id=membership.id,
            payload={"user_id": user.id, "role": "owner"},
        )
    return membership

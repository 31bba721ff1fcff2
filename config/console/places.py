"""Finding a person's place: their workspaces, the one they chose, and what their roles allow there, at each request anew."""

from typing import Any, TypeGuard
from uuid import UUID

from django.http import HttpRequest

from audit.services import record
from kernel.access import Principal
from kernel.admin.place import Choice, Place
from kernel.context import ESTATE, acting_as
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Membership, User, Workspace
from tenancy.queries import principals
from tenancy.types import MembershipStatus, WorkspaceStatus

SESSION_KEY = "console_workspace"
EVERYTHING = "all"
LISTED = 200


def find(request: HttpRequest) -> Place | None:
    """The place of a signed-in person; None for one who may not enter, and for an operator who has not chosen yet."""
    return _place(request.user, str(request.session.get(SESSION_KEY, "")))


def may_enter(user: Any) -> TypeGuard[User]:
    """Whether a signed-in person is of those who work here. Django's superusers get nothing by that."""
    return isinstance(user, User) and user.is_active and user.is_staff


def choose(request: HttpRequest, wanted: str) -> bool:
    """Work in a workspace, or estate-wide, from now on; False where the person may not. An operator's choice is audited."""
    place = _place(request.user, wanted)
    if place is None or wanted != (str(place.workspace_id) if place.workspace else EVERYTHING):
        return False
    request.session[SESSION_KEY] = wanted
    if place.acts_as_operator:
        note(place, "operator.enter")
    return True


def note(place: Place, action: str, **payload: Any) -> None:
    """Write an operator's act, with what they chose, into the trail of the workspace, or of the estate."""
    workspace_id = place.workspace_id or ESTATE
    with acting_as(place.actor), in_workspace(workspace_id):
        record(
            workspace_id=workspace_id,
            action=action,
            resource_kind="workspace",
            resource_id=workspace_id,
            payload={"chosen": place.ref, **payload},
        )


def offered() -> tuple[Choice, ...]:
    """What an operator may choose, by name; of a large estate, the rest is on the page of workspaces."""
    with in_all_workspaces("an operator chooses among all workspaces"):
        rows = Workspace.objects.filter(deleted_at=None).order_by("name", "id").values_list("id", "name", "ref")
        return tuple(Choice(*row) for row in rows[:LISTED])


def _place(user: Any, wanted: str) -> Place | None:
    if not may_enter(user):
        return None
    with in_all_workspaces("a person's memberships say which workspaces are theirs"):
        own = _memberships(user)
        workspace, as_operator = _chosen(user, own, wanted)
        principal = _principal(user, workspace, as_operator=as_operator)
        if principal is None:
            return None
        return Place(
            principal=principal,
            workspace=workspace,
            choices=_listed(user, own, workspace),
            is_operator=user.is_operator,
        )


def _principal(user: User, workspace: Choice | None, *, as_operator: bool) -> Principal | None:
    if as_operator:
        chosen = workspace.id if workspace else None
        return principals.of_operator(user_id=user.id, label=str(user), workspace_id=chosen)
    return principals.of_member(user_id=user.id, workspace_id=workspace.id) if workspace else None


def _memberships(user: User) -> list[Choice]:
    rows = Membership.objects.filter(
        user=user,
        status=MembershipStatus.ACTIVE,
        workspace__status=WorkspaceStatus.ACTIVE,
        workspace__deleted_at=None,
    ).order_by("created_at", "id")
    return [Choice(*row) for row in rows.values_list("workspace_id", "workspace__name", "workspace__ref")]


def _chosen(user: User, own: list[Choice], wanted: str) -> tuple[Choice | None, bool]:
    """The workspace, and whether the person is there as an operator. In one of their own they are a member, nothing else."""
    found = next((choice for choice in own if str(choice.id) == wanted), None)
    if found is None and user.is_operator and wanted:
        if wanted == EVERYTHING:
            return None, True
        found = _any(wanted)
        if found is not None:
            return found, True
    # Nobody becomes an operator by default: without a choice, their own first workspace, or none.
    return found or (own[0] if own else None), False


def _any(wanted: str) -> Choice | None:
    try:
        row = Workspace.objects.filter(id=UUID(wanted), deleted_at=None).values_list("id", "name", "ref").first()
    except ValueError:
        return None
    return Choice(*row) if row else None


def _listed(user: User, own: list[Choice], workspace: Choice | None) -> tuple[Choice, ...]:
    """What the switcher offers."""
    if not user.is_operator:
        return tuple(own)
    listed = list(offered())
    if workspace and workspace not in listed:
        listed.insert(0, workspace)
    return tuple(listed)

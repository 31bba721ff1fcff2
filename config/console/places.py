"""Finding a person's place: their workspaces, the one they chose, and what their roles allow there."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from kernel.admin.place import Choice, Place
from kernel.context import Actor
from kernel.transactions import in_all_workspaces
from tenancy.models import Membership, RolePermission, User, Workspace
from tenancy.types import MembershipStatus, WorkspaceStatus

SESSION_KEY = "console_workspace"
EVERYTHING = "all"
LISTED = 200


def find(request: HttpRequest) -> Place | None:
    """The place of a signed-in person, or None for one who may not enter."""
    user = request.user
    if not (isinstance(user, User) and user.is_active and user.is_staff):
        return None
    with in_all_workspaces("a person's memberships say which workspaces are theirs"):
        own = _memberships(user)
        workspace = _chosen(user, own, request.session.get(SESSION_KEY, ""))
        if workspace is None and not user.is_superuser:
            return None
        return Place(
            actor=Actor(kind="user", id=str(user.id), label=str(user)),
            workspace=workspace,
            choices=_listed(user, own, workspace),
            permissions=_permissions(user, workspace),
            may_see_all=user.is_superuser,
        )


def may_choose(user: Any, wanted: str) -> bool:
    """Whether a person may work in the workspace of this id, or in all of them."""
    if wanted == EVERYTHING:
        return bool(user.is_superuser)
    with in_all_workspaces("a person's memberships say which workspaces are theirs"):
        return _open_to(user, _memberships(user), wanted) is not None


def _memberships(user: User) -> list[Choice]:
    rows = Membership.objects.filter(
        user=user,
        status=MembershipStatus.ACTIVE,
        workspace__status=WorkspaceStatus.ACTIVE,
        workspace__deleted_at=None,
    ).order_by("created_at", "id")
    return [Choice(*row) for row in rows.values_list("workspace_id", "workspace__name", "workspace__ref")]


def _chosen(user: User, own: list[Choice], wanted: str) -> Choice | None:
    if user.is_superuser and wanted == EVERYTHING:
        return None
    return _open_to(user, own, wanted) or (own[0] if own else None)


def _open_to(user: User, own: list[Choice], wanted: str) -> Choice | None:
    found = next((choice for choice in own if str(choice.id) == wanted), None)
    if found is not None or not user.is_superuser:
        return found
    try:
        row = Workspace.objects.filter(id=UUID(wanted), deleted_at=None).values_list("id", "name", "ref").first()
    except ValueError:
        return None
    return Choice(*row) if row else None


def _listed(user: User, own: list[Choice], workspace: Choice | None) -> tuple[Choice, ...]:
    """What the switcher offers. A superuser of a large estate finds the rest on the page of workspaces."""
    if not user.is_superuser:
        return tuple(own)
    rows = Workspace.objects.filter(deleted_at=None).order_by("name", "id").values_list("id", "name", "ref")
    listed = [Choice(*row) for row in rows[:LISTED]]
    if workspace and workspace not in listed:
        listed.insert(0, workspace)
    return tuple(listed)


def _permissions(user: User, workspace: Choice | None) -> frozenset[str]:
    if user.is_superuser:
        return frozenset({"*"})
    if workspace is None:
        return frozenset()
    rows = RolePermission.objects.filter(
        workspace_id=workspace.id,
        role__member_links__membership__user=user,
        role__member_links__membership__status=MembershipStatus.ACTIVE,
    )
    return frozenset(rows.values_list("permission", flat=True))

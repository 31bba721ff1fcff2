"""Roles and teams of the scope, with what belongs to them."""

from uuid import UUID

from django.db.models import Prefetch, QuerySet

from kernel.errors import NotFound
from tenancy.models import MembershipRole, Role, RolePermission, Team, TeamInbox, TeamMember


def roles() -> "QuerySet[Role]":
    """The roles, with their grants and who holds them; three queries however many."""
    return Role.objects.prefetch_related(
        Prefetch("grants", RolePermission.objects.order_by("permission")),
        Prefetch("member_links", MembershipRole.objects.order_by("created_at", "id")),
    )


def role(role_id: UUID) -> Role:
    """One role; NotFound when the scope has none of that id."""
    row = roles().filter(id=role_id).first()
    if row is None:
        raise NotFound
    return row


def grants_of(row: Role) -> list[str]:
    """What a role grants, by name."""
    return [grant.permission for grant in row.grants.all()]


def teams() -> "QuerySet[Team]":
    """The teams, with their members and inboxes; three queries however many."""
    return Team.objects.prefetch_related(
        Prefetch("member_links", TeamMember.objects.select_related("membership__user").order_by("created_at", "id")),
        Prefetch("inbox_links", TeamInbox.objects.order_by("created_at", "id")),
    )


def team(team_id: UUID) -> Team:
    """One team; NotFound when the scope has none of that id."""
    row = teams().filter(id=team_id).first()
    if row is None:
        raise NotFound
    return row

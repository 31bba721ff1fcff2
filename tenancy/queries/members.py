"""Members and invitations of the current workspace, and what roles grant together."""

from collections.abc import Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from kernel.errors import NotFound
from tenancy.models import Invitation, Membership, RolePermission
from tenancy.queries import principals
from tenancy.types import MembershipStatus

M = TypeVar("M", bound=Model)


def members() -> QuerySet[Membership]:
    """Everybody who belongs to the workspace of the scope, suspended ones included."""
    rows = Membership.objects.exclude(status=MembershipStatus.REMOVED)
    return rows.select_related("user").prefetch_related("role_links__role")


def member(membership_id: UUID) -> Membership:
    """One member; NotFound when the scope has none of that id."""
    return _get(members().filter(id=membership_id))


def is_active(membership_id: UUID) -> bool:
    """Whether a member of this id works here now."""
    return Membership.objects.filter(id=membership_id, status=MembershipStatus.ACTIVE).exists()


def sees(membership_id: UUID, inbox_id: UUID) -> bool:
    """Whether an active member of the scope may see an inbox, by their teams."""
    member = Membership.objects.filter(id=membership_id, status=MembershipStatus.ACTIVE).first()
    if member is None:
        return False
    principal = principals.of_member(user_id=member.user_id, workspace_id=member.workspace_id)
    return principal is not None and (principal.inbox_ids is None or inbox_id in principal.inbox_ids)


def own(user_id: Any) -> UUID | None:
    """The membership of a person who works here now."""
    rows = Membership.objects.filter(user_id=user_id, status=MembershipStatus.ACTIVE)
    found: UUID | None = rows.values_list("id", flat=True).first()
    return found


def active(*, limit: int = 200) -> list[Membership]:
    """Who works here, with their people, by name."""
    rows = Membership.objects.filter(status=MembershipStatus.ACTIVE).select_related("user")
    return list(rows.order_by("user__name", "user__email", "id")[:limit])


def invitations() -> QuerySet[Invitation]:
    """Invitations of the scope, whatever became of them."""
    return Invitation.objects.prefetch_related("role_links__role")


def invitation(invitation_id: UUID) -> Invitation:
    """One invitation; NotFound when the scope has none of that id."""
    return _get(invitations().filter(id=invitation_id))


def permissions_of(role_ids: Sequence[UUID]) -> list[str]:
    """What some roles grant together."""
    rows = RolePermission.objects.filter(role_id__in=role_ids)
    return sorted(set(rows.values_list("permission", flat=True)))


def is_member(*, email: str) -> bool:
    """Whether an active member of the current workspace has this address; `email` is in small letters."""
    return Membership.objects.filter(status=MembershipStatus.ACTIVE, user__email__iexact=email).exists()


def _get(rows: QuerySet[M]) -> M:
    row = rows.first()
    if row is None:
        raise NotFound
    return row

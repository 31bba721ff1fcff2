"""Members of the workspace in sight."""

from typing import Any
from uuid import UUID

from tenancy.models import Membership
from tenancy.types import MembershipStatus


def is_active(membership_id: UUID) -> bool:
    """Whether a member of this id works here now."""
    return Membership.objects.filter(id=membership_id, status=MembershipStatus.ACTIVE).exists()


def own(user_id: Any) -> UUID | None:
    """The membership of a person who works here now."""
    rows = Membership.objects.filter(user_id=user_id, status=MembershipStatus.ACTIVE)
    found: UUID | None = rows.values_list("id", flat=True).first()
    return found


def active(*, limit: int = 200) -> list[Membership]:
    """Who works here, with their people, by name."""
    rows = Membership.objects.filter(status=MembershipStatus.ACTIVE).select_related("user")
    return list(rows.order_by("user__name", "user__email", "id")[:limit])

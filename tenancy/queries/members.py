"""Who belongs to a workspace."""

from tenancy.models import Membership
from tenancy.types import MembershipStatus


def is_member(*, email: str) -> bool:
    """Whether an active member of the current workspace has this address; `email` is in small letters."""
    return Membership.objects.filter(status=MembershipStatus.ACTIVE, user__email__iexact=email).exists()

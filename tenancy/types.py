"""States of workspaces and memberships."""

from django.db.models import TextChoices


class WorkspaceStatus(TextChoices):
    ACTIVE = "active"
    SUSPENDED = "suspended"


class MembershipStatus(TextChoices):
    INVITED = "invited"
    ACTIVE = "active"
    SUSPENDED = "suspended"


class DomainState(TextChoices):
    PENDING = "pending"
    VERIFIED = "verified"

from django.db import models

from tenancy.models.role import Role
from tenancy.models.user import User
from tenancy.scoping import WorkspaceOwned
from tenancy.types import MembershipStatus


class Membership(WorkspaceOwned):
    """A person's place in a workspace: the only way from a user to its rows (S3-25)."""

    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    status = models.CharField(max_length=12, choices=MembershipStatus, default=MembershipStatus.INVITED)
    invited_by = models.CharField(max_length=200, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="tenancy_one_membership_per_user")]

    def __str__(self) -> str:
        return str(self.user)


class MembershipRole(WorkspaceOwned):
    """A role that a member holds. Both ends are paired with the workspace (S3-26)."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="role_links", db_constraint=False)
    role = models.ForeignKey(Role, models.PROTECT, related_name="member_links", db_constraint=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["membership", "role"], name="tenancy_one_role_link")]

    def __str__(self) -> str:
        return f"{self.membership_id} as {self.role_id}"

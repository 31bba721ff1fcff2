from django.db import models

from tenancy.models.role import Role
from tenancy.models.user import User
from tenancy.scoping import WorkspaceOwned
from tenancy.types import MembershipStatus


class Membership(WorkspaceOwned):
    """A person's place in a workspace: the only way from a user to its rows (S3-25).

    Who is invited and has not accepted has an Invitation and no membership. A member who was removed keeps the row,
    without roles, so that what refers to it (an assignment) still says who it was; a new invitation opens it again.
    """

    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    status = models.CharField(max_length=12, choices=MembershipStatus, default=MembershipStatus.ACTIVE)
    invited_by = models.CharField(max_length=200, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="tenancy_one_membership_per_user")]
        # Lists of members are by age.
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_members_by_age")]

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

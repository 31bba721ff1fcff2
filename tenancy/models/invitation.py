from django.db import models

from kernel import clock
from tenancy.models.mailed import Mailed
from tenancy.models.role import Role
from tenancy.scoping import WorkspaceOwned
from tenancy.types import InvitationState


class Invitation(WorkspaceOwned, Mailed):
    """Somebody may join the workspace with some roles. Its link is good once, for a while, and for this address."""

    email = models.EmailField()
    invited_by_kind = models.CharField(max_length=20, blank=True, editable=False)
    invited_by_id = models.CharField(max_length=80, blank=True, editable=False)
    invited_by_label = models.CharField(max_length=200, blank=True, editable=False)
    accepted_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="tenancy_one_open_invitation_per_email",
            ),
            models.CheckConstraint(
                condition=models.Q(email=models.functions.Lower("email")), name="tenancy_invitation_email_is_lower_case"
            ),
            models.CheckConstraint(
                condition=models.Q(accepted_at=None) | models.Q(revoked_at=None),
                name="tenancy_invitation_ends_once",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_invitations_by_age"),
            # The worker that mails, over all workspaces.
            models.Index(
                fields=["mail_due_at"],
                condition=models.Q(mail_state__in=["queued", "sending"]),
                name="tenancy_invitation_mail_due",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def state(self) -> str:
        if self.accepted_at is not None:
            return InvitationState.ACCEPTED
        if self.revoked_at is not None:
            return InvitationState.REVOKED
        return InvitationState.EXPIRED if self.expires_at <= clock.now() else InvitationState.OPEN


class InvitationRole(WorkspaceOwned):
    """A role that comes with an invitation. Both ends are paired with the workspace (S3-26)."""

    invitation = models.ForeignKey(Invitation, models.CASCADE, related_name="role_links", db_constraint=False)
    role = models.ForeignKey(Role, models.CASCADE, related_name="invitation_links", db_constraint=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["invitation", "role"], name="tenancy_one_invited_role_link")]

    def __str__(self) -> str:
        return f"{self.invitation_id} as {self.role_id}"

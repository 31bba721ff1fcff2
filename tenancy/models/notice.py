from django.db import models

from tenancy.models.mailed import Posted
from tenancy.models.membership import Membership
from tenancy.scoping import WorkspaceOwned


class Notice(WorkspaceOwned, Posted):
    """A letter to one member about something that needs a person: what has happened, and the page where it is seen to."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="notices", db_constraint=False)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    path = models.CharField(max_length=300)

    class Meta(WorkspaceOwned.Meta):
        indexes = [
            # The worker that mails, over all workspaces.
            models.Index(
                fields=["mail_due_at"],
                condition=models.Q(mail_state__in=["queued", "sending"]),
                name="tenancy_notice_mail_due",
            ),
            # Retention.
            models.Index(fields=["created_at"], name="tenancy_notices_by_age"),
        ]

    def __str__(self) -> str:
        return self.subject

from django.db import models
from django.db.models.functions import Now

from contacts.models.contact import Contact
from contacts.types import Source
from tenancy.scoping import WorkspaceOwned


class ContactProfile(WorkspaceOwned):
    """The person in one workspace: what it knows of them, and nothing that another one does (S1-33)."""

    contact = models.ForeignKey(Contact, models.PROTECT, related_name="profiles")
    label_no = models.BigIntegerField(help_text="From the workspace's contact_seq; shown as C-17.")
    display_name = models.CharField(max_length=200, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    source = models.CharField(max_length=12, choices=Source, default=Source.INBOUND)
    engagement_score = models.IntegerField(default=0, editable=False)
    engagement_rating = models.CharField(max_length=12, blank=True, editable=False)
    first_seen_at = models.DateTimeField(db_default=Now(), editable=False)
    last_seen_at = models.DateTimeField(db_default=Now(), editable=False)
    unsubscribed_at = models.DateTimeField(null=True, blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "contact"], name="contacts_one_profile_per_workspace"),
            models.UniqueConstraint(fields=["workspace", "label_no"], name="contacts_one_profile_per_label"),
        ]
        indexes = [models.Index(fields=["workspace", "-last_seen_at"], name="contacts_profile_recent")]

    def __str__(self) -> str:
        return self.display_name or f"C-{self.label_no}"

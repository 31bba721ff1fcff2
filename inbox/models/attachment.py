from django.db import models

from inbox.models.email import Email
from inbox.models.entry import Entry
from tenancy.scoping import SoftDeletable


class Attachment(SoftDeletable):
    """A file of an entry, in or out (the ninth resource, X-27). The name is cleaned; downloads are never inline."""

    entry = models.ForeignKey(Entry, models.PROTECT, related_name="attachments", db_constraint=False)
    email = models.ForeignKey(Email, models.PROTECT, null=True, related_name="attachments", db_constraint=False)
    file = models.ForeignKey("files.File", models.PROTECT, related_name="+", db_constraint=False)
    position = models.PositiveSmallIntegerField()
    filename = models.CharField(max_length=255)
    content_type = models.CharField(max_length=255)
    content_id = models.CharField(max_length=255, blank=True)
    inline = models.BooleanField(default=False)

    class Meta(SoftDeletable.Meta):
        constraints = [models.UniqueConstraint(fields=["entry", "position"], name="inbox_one_attachment_per_position")]
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_attachment_list")]

    def __str__(self) -> str:
        return self.filename

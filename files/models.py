from django.db import models
from django.db.models.functions import Now

from tenancy.scoping import SoftDeletable


class File(SoftDeletable):
    """Stored bytes, kept once per workspace and content. The storage key never leaves the server."""

    class Scan(models.TextChoices):
        NONE = "none", "not scanned"
        PENDING = "pending"
        CLEAN = "clean"
        INFECTED = "infected"
        FAILED = "failed"

    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    mime_declared = models.CharField(max_length=255, blank=True)
    mime_sniffed = models.CharField(max_length=255, blank=True)
    storage_key = models.CharField(max_length=200, editable=False)
    scan_state = models.CharField(max_length=8, choices=Scan, default=Scan.NONE)
    scan_reason = models.CharField(max_length=200, blank=True, db_default="", help_text="What was found, or why not.")
    scan_attempts = models.PositiveSmallIntegerField(db_default=0)
    scan_due_at = models.DateTimeField(db_default=Now(), help_text="When the scanner may take it: its retry.")
    retention_expires_at = models.DateTimeField(null=True, blank=True)
    legal_hold = models.BooleanField(default=False)

    class Meta(SoftDeletable.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "sha256", "size"], name="files_one_copy_per_content"),
            models.CheckConstraint(condition=models.Q(size__gte=0), name="files_size_not_negative"),
        ]
        # The scanner's claim.
        indexes = [
            models.Index(fields=["scan_due_at"], name="files_scan_due", condition=models.Q(scan_state="pending"))
        ]

    def __str__(self) -> str:
        return bytes(self.sha256).hex()[:12]

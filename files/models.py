from django.db import models

from tenancy.scoping import SoftDeletable


class File(SoftDeletable):
    """Stored bytes, kept once per workspace and content. The storage key never leaves the server."""

    class Scan(models.TextChoices):
        NONE = "none", "not scanned"
        CLEAN = "clean"
        INFECTED = "infected"
        FAILED = "failed"

    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    mime_declared = models.CharField(max_length=255, blank=True)
    mime_sniffed = models.CharField(max_length=255, blank=True)
    storage_key = models.CharField(max_length=200, editable=False)
    scan_state = models.CharField(max_length=8, choices=Scan, default=Scan.NONE)
    retention_expires_at = models.DateTimeField(null=True, blank=True)
    legal_hold = models.BooleanField(default=False)

    class Meta(SoftDeletable.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "sha256", "size"], name="files_one_copy_per_content"),
            models.CheckConstraint(condition=models.Q(size__gte=0), name="files_size_not_negative"),
        ]

    def __str__(self) -> str:
        return bytes(self.sha256).hex()[:12]

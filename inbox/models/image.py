from django.db import models

from tenancy.scoping import WorkspaceOwned


class RemoteImage(WorkspaceOwned):
    """An image of somebody else's server, fetched once, drawn anew and kept for a while; or why it is not shown."""

    address_hash = models.BinaryField(max_length=32)
    content = models.BinaryField(blank=True)
    content_type = models.CharField(max_length=20, blank=True)
    problem = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField()

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "address_hash"], name="inbox_one_copy_per_image"),
            models.CheckConstraint(
                condition=~models.Q(problem="") | ~models.Q(content_type=""), name="inbox_image_shown_or_not"
            ),
        ]
        # What has ended.
        indexes = [models.Index(fields=["expires_at"], name="inbox_image_end")]

    def __str__(self) -> str:
        return self.problem or self.content_type

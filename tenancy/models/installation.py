from django.db import models


class Installation(models.Model):
    """The singleton row, locked while the first owner is made: that cannot happen twice (S3-27)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    owner_id = models.UUIDField(null=True, editable=False)
    owned_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="tenancy_one_installation")]

    def __str__(self) -> str:
        return "installation"

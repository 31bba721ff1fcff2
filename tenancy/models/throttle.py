from django.db import models


class Throttle(models.Model):
    """How often something was tried in the present window: by an account, from an address, with a one-time code.

    The key is a SHA-256, so that this is no list of whom somebody tried to be. Counted in one statement, see
    `tenancy.services.throttling`.
    """

    key = models.BinaryField(primary_key=True, max_length=32)
    count = models.PositiveIntegerField()
    until = models.DateTimeField()

    class Meta:
        # Pruning.
        indexes = [models.Index(fields=["until"], name="tenancy_throttles_by_end")]

    def __str__(self) -> str:
        return f"{self.count} until {self.until}"

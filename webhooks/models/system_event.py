from typing import Any

import orjson
from django.db import models

from tenancy.scoping import WorkspaceOwned


class SystemEvent(WorkspaceOwned):
    """A public fact, immutable; its id is the id of the outbox event that carried it (S0-13, X-21)."""

    slug = models.CharField(max_length=80)
    version = models.PositiveSmallIntegerField(default=1)
    aggregate_key = models.CharField(max_length=120)
    occurred_at = models.DateTimeField()
    sequence = models.BigIntegerField(default=0, editable=False, help_text="Order of publication; never shown (X-29).")
    # The exact bytes that every attempt of every delivery sends and signs.
    body = models.TextField()

    class Meta(WorkspaceOwned.Meta):
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="webhooks_event_list"),
            models.Index(fields=["workspace", "slug", "-created_at"], name="webhooks_event_by_slug"),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def data(self) -> dict[str, Any]:
        """What the event says: the `data` of its body."""
        said: dict[str, Any] = orjson.loads(self.body)["data"]
        return said

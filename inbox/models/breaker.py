from django.db import models

from inbox.models.inbox import Inbox
from inbox.types import BreakerScope
from tenancy.scoping import WorkspaceOwned


class CircuitBreaker(WorkspaceOwned):
    """Automatic answers that were stopped, since a machine seems to answer a machine (FS-6).

    While it is open nothing is answered by itself within its scope. It closes by its time, or by a person.
    """

    inbox_path = "inbox_id"

    inbox = models.ForeignKey(Inbox, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    scope = models.CharField(max_length=10, choices=BreakerScope)
    key = models.CharField(max_length=400, help_text="The thread and sender, the sender, the inbox or the workspace.")
    opened_at = models.DateTimeField()
    open_until = models.DateTimeField()
    held = models.PositiveIntegerField(default=1, help_text="How many automatic answers it has held back.")
    last_held_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, help_text="When a person allowed automatic answers again.")
    closed_by = models.TextField(blank=True, db_default="")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "scope", "key"],
                name="inbox_one_open_breaker",
                condition=models.Q(closed_at=None),
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_breaker_by_age"),
            # The console's page and badge.
            models.Index(fields=["workspace", "-opened_at", "-id"], name="inbox_breaker_list"),
            models.Index(
                fields=["workspace", "open_until"], name="inbox_breaker_open", condition=models.Q(closed_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key}"

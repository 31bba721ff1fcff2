from django.contrib.postgres.fields import ArrayField
from django.db import models

from inbox.types import ThreadChangeKind
from tenancy.scoping import WorkspaceOwned

# Written under the locks of the threads, so that it orders the changes of a thread; now() would be the transaction's begin.
CLOCK = models.Func(function="clock_timestamp", output_field=models.DateTimeField())


class ThreadChange(WorkspaceOwned):
    """Entries that a person put into another conversation, with all that is needed to put them back.

    The threads are plain ids: this is history, and undoing a split takes the thread away that it made.
    """

    kind = models.CharField(max_length=8, choices=ThreadChangeKind)
    source_thread_id = models.UUIDField()
    target_thread_id = models.UUIDField()
    entry_ids = ArrayField(models.UUIDField(), help_text="What went from the source to the target.")
    idempotency_key = models.CharField(max_length=255)
    fingerprint = models.BinaryField(
        max_length=32, help_text="Of what was asked for: the same key means the same wish."
    )
    journal = models.JSONField(help_text="Both threads before and after, and the participants that came and went.")
    actor_kind = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=80, blank=True)
    actor_label = models.TextField(blank=True)
    made_at = models.DateTimeField(db_default=CLOCK)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.TextField(blank=True, db_default="")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "idempotency_key"], name="inbox_one_change_per_key"),
        ]
        indexes = [
            # What a conversation went through, and what came after a change that is to be undone.
            models.Index(fields=["workspace", "source_thread_id", "-made_at"], name="inbox_change_by_source"),
            models.Index(fields=["workspace", "target_thread_id", "-made_at"], name="inbox_change_by_target"),
            # The API's list.
            models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_change_list"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {len(self.entry_ids)}"

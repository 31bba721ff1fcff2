from django.db import models

from inbox.models.thread import Thread
from tenancy.scoping import WorkspaceOwned


class Draft(WorkspaceOwned):
    """A reply that is being written: one for each author and conversation, the same on all of their devices.

    `version` rises with each save; whoever saves names the one that they read, so that no device overwrites another.
    """

    thread = models.ForeignKey(Thread, models.PROTECT, related_name="drafts", db_constraint=False, db_index=False)
    author_kind = models.CharField(max_length=20)
    author_id = models.CharField(max_length=80)
    author_label = models.TextField(blank=True, db_default="")
    text = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["thread", "author_kind", "author_id"], name="inbox_one_draft_per_author"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="inbox_draft_version_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"draft {self.version} of {self.author_label}"

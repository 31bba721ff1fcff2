from django.db import models
from django.db.models.functions import Lower

from tenancy.scoping import WorkspaceOwned
from tickets.types import TagColor


class Tag(WorkspaceOwned):
    """A label for conversations. One of a name, however it is spelled."""

    name = models.CharField(max_length=60)
    color = models.CharField(max_length=8, choices=TagColor, default=TagColor.GREY)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint("workspace", Lower("name"), name="tickets_one_tag_per_name"),
            models.CheckConstraint(condition=~models.Q(name=""), name="tickets_tag_has_a_name"),
            models.CheckConstraint(condition=models.Q(color__in=TagColor.values), name="tickets_tag_color_is_known"),
        ]

    def __str__(self) -> str:
        return self.name


class ThreadTag(WorkspaceOwned):
    """A label on a conversation, and who put it there."""

    thread = models.ForeignKey(
        "inbox.Thread", models.CASCADE, related_name="tag_links", db_constraint=False, db_index=False
    )
    tag = models.ForeignKey(Tag, models.CASCADE, related_name="links", db_constraint=False, db_index=False)
    actor_kind = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=80, blank=True)
    actor_label = models.TextField(blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["thread", "tag"], name="tickets_one_tag_use_per_thread")]
        # The conversations of a label.
        indexes = [models.Index(fields=["tag", "thread"], name="tickets_tag_threads")]

    def __str__(self) -> str:
        return str(self.tag)

from django.db import models
from django.db.models.functions import Lower

from tenancy.scoping import WorkspaceOwned


class CannedAnswer(WorkspaceOwned):
    """A text that is written again and again. `{name}`, `{subject}` and `{me}` are filled in where it is used."""

    name = models.CharField(max_length=80)
    text = models.TextField()

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint("workspace", Lower("name"), name="tickets_one_answer_per_name"),
            models.CheckConstraint(condition=~models.Q(name="") & ~models.Q(text=""), name="tickets_answer_is_whole"),
        ]

    def __str__(self) -> str:
        return self.name

from django.db import models
from django.db.models.functions import Lower

from tenancy.scoping import WorkspaceOwned
from tickets.types import ViewOrder


class SavedView(WorkspaceOwned):
    """A list of conversations under a name: everybody's, or one member's own."""

    owner = models.ForeignKey(
        "tenancy.Membership", models.CASCADE, null=True, related_name="+", db_constraint=False, db_index=False
    )
    name = models.CharField(max_length=60)
    filter = models.JSONField(default=dict, help_text="See tickets.normalise for its words.")
    sort = models.CharField(max_length=8, choices=ViewOrder, default=ViewOrder.NEWEST)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                "workspace", "owner", Lower("name"), name="tickets_one_view_per_name", nulls_distinct=False
            ),
            models.CheckConstraint(condition=~models.Q(name=""), name="tickets_view_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

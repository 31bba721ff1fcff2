from django.db import models
from django.db.models.functions import Lower, Now

from contacts.types import IdentifierKind, SuppressionReason
from tenancy.scoping import WorkspaceOwned


class SuppressionEntry(WorkspaceOwned):
    """An address that this workspace does not write to, and since when: one row each, however often it happens.

    A row that was lifted or has run out stays, so that the next bounce knows of the first one.
    """

    kind = models.CharField(max_length=8, choices=IdentifierKind, default=IdentifierKind.EMAIL)
    value = models.CharField(max_length=320)
    reason = models.CharField(max_length=12, choices=SuppressionReason)
    detail = models.CharField(max_length=500, blank=True, help_text="What the other side said.")
    times = models.PositiveIntegerField(default=1, help_text="How often there was a reason.")
    first_at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: until somebody lifts it.")
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=200, blank=True, db_default="")

    class Meta(WorkspaceOwned.Meta):
        verbose_name = "suppressed address"
        verbose_name_plural = "suppressed addresses"
        constraints = [
            # The sender's look-up as well.
            models.UniqueConstraint(fields=["workspace", "kind", "value"], name="contacts_one_suppression_per_value"),
            models.CheckConstraint(condition=models.Q(value=Lower("value")), name="contacts_suppression_lower_case"),
        ]
        indexes = [models.Index(fields=["workspace", "-last_at", "-id"], name="contacts_suppression_list")]

    def __str__(self) -> str:
        return self.value

from django.db import models

from agents.models.execution import Execution
from agents.types import Decision, IntentStatus, Risk
from tenancy.scoping import WorkspaceOwned


class ActionIntent(WorkspaceOwned):
    """An effect outside, wanted once. The row is its only executor (AG-8); its key makes a second one impossible.

    The key of a reply is `reply:<email>:<agent>`, so that an inbound message has at most one answer of an agent (AG-3).
    """

    idempotency_key = models.CharField(max_length=255)
    execution = models.ForeignKey(Execution, models.PROTECT, related_name="intents", db_constraint=False)
    action = models.CharField(max_length=60, help_text="The tool, as the registry names it.")
    arguments = models.JSONField(default=dict, help_text="The exact content of the effect.")
    content_hash = models.BinaryField(max_length=32, help_text="SHA-256 of the canonical arguments.")
    risk = models.CharField(max_length=8, choices=Risk)
    decision = models.CharField(max_length=8, choices=Decision)
    decision_reason = models.CharField(max_length=300)
    policy_version = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=16, choices=IntentStatus)
    entry_id = models.UUIDField(null=True, help_text="The outgoing entry that carries the effect.")
    provider_ref = models.CharField(max_length=200, blank=True)
    error = models.CharField(max_length=500, blank=True)
    executed_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "idempotency_key"], name="agents_one_intent_per_key"),
            models.CheckConstraint(
                condition=~models.Q(status__in=["executing", "executed", "uncertain"])
                | models.Q(entry_id__isnull=False),
                name="agents_executed_intent_has_its_entry",
            ),
        ]
        indexes = [
            # News of a sent entry finds the intent that wanted it.
            models.Index(fields=["entry_id"], name="agents_intent_entry", condition=models.Q(entry_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.action} ({self.status})"

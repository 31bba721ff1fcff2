from django.db import models
from django.db.models.functions import Now

from agents.models.agent import Agent, AgentVersion
from agents.types import LIVE, ExecutionStatus, Risk, StepKind, StepStatus
from tenancy.scoping import WorkspaceOwned


class Execution(WorkspaceOwned):
    """The durable, stepwise work of an agent. The row is the queue: claimed with a lease, resumed at its next step."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="executions", db_constraint=False)
    version = models.ForeignKey(AgentVersion, models.PROTECT, related_name="+", db_constraint=False)
    instruction = models.TextField()
    instruction_hash = models.BinaryField(max_length=32)
    status = models.CharField(max_length=16, choices=ExecutionStatus, db_default=ExecutionStatus.QUEUED)
    outcome = models.CharField(max_length=40, blank=True, db_default="")
    reason = models.CharField(max_length=500, blank=True, db_default="", help_text="For people: why it ended so.")
    error_code = models.CharField(max_length=60, blank=True, db_default="")
    provider = models.CharField(max_length=20, blank=True, db_default="")
    model = models.CharField(max_length=120, blank=True, db_default="")
    used_language_model = models.BooleanField(db_default=False)
    input_tokens = models.PositiveIntegerField(db_default=0)
    output_tokens = models.PositiveIntegerField(db_default=0)
    cost_micros = models.BigIntegerField(db_default=0, help_text="Millionths of a US dollar.")
    attempts = models.PositiveSmallIntegerField(db_default=0, help_text="Claims since the last step that was done.")
    due_at = models.DateTimeField(db_default=Now(), help_text="Next attempt, or the end of the lease while running.")
    lease_token = models.PositiveIntegerField(db_default=0, help_text="Rises with each claim; fences late writers.")
    generation = models.PositiveIntegerField(
        db_default=0, help_text="Of the workspace's control state, when it was last claimed."
    )
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=LIVE) | models.Q(finished_at__isnull=False),
                name="agents_ended_execution_has_an_end",
            )
        ]
        indexes = [
            # The worker's claim.
            models.Index(
                fields=["due_at"], name="agents_execution_due", condition=models.Q(status__in=["queued", "running"])
            ),
            models.Index(fields=["workspace", "-created_at", "-id"], name="agents_execution_list"),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.outcome}".strip()


class ExecutionStep(WorkspaceOwned):
    """One recorded step. A resumed run reads what is recorded and never does it again (AG-8).

    `risk` and `permission` come from the registry of tools, never from a model (S3-40).
    """

    execution = models.ForeignKey(Execution, models.PROTECT, related_name="steps", db_constraint=False)
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=12, choices=StepKind)
    tool = models.CharField(max_length=60, blank=True)
    permission = models.CharField(max_length=60, blank=True)
    risk = models.CharField(max_length=8, choices=Risk, blank=True)
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    status = models.CharField(max_length=8, choices=StepStatus, default=StepStatus.DONE)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost_micros = models.BigIntegerField(default=0)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["execution", "position"], name="agents_one_step_per_position")]

    def __str__(self) -> str:
        return f"{self.position}. {self.title}"

import uuid

from django.db import models

from agents.types import AgentStatus, Autonomy
from tenancy.scoping import SoftDeletable, SystemKept, WorkspaceOwned


class Agent(SoftDeletable, SystemKept):
    """A governed agent. What it is told and which model it asks live in its versions (X-11)."""

    external_id = models.UUIDField(default=uuid.uuid4, unique=True)
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=8, choices=AgentStatus, default=AgentStatus.ACTIVE)
    autonomy = models.CharField(max_length=12, choices=Autonomy, default=Autonomy.DRAFT)
    current_version = models.PositiveIntegerField(default=1, editable=False)
    max_steps = models.PositiveSmallIntegerField(default=12, help_text="A run ends after this many steps.")
    max_cost_micros = models.BigIntegerField(default=500_000, help_text="Per run, in millionths of a US dollar.")
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False)

    class Meta(SoftDeletable.Meta):
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="agents_agent_list")]

    def __str__(self) -> str:
        return self.name


class AgentVersion(WorkspaceOwned):
    """An immutable snapshot, made at every change (S3-29)."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    provider = models.CharField(max_length=20, blank=True, help_text="Empty: the installation's default.")
    model = models.CharField(max_length=120, blank=True)
    system_prompt = models.TextField(blank=True)
    skills = models.JSONField(default=list)
    autonomy = models.CharField(max_length=12, choices=Autonomy)
    limits = models.JSONField(default=dict)
    created_by = models.CharField(max_length=200, blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="agents_one_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number}"

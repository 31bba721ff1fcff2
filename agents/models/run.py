from django.db import models

from agents.models.agent import Agent, AgentVersion
from agents.models.execution import Execution
from tenancy.scoping import WorkspaceOwned


class AgentRun(WorkspaceOwned):
    """The thin public record of one execution against one e-mail (X-12). Read-only through the API."""

    email = models.ForeignKey("inbox.Email", models.PROTECT, related_name="+", db_constraint=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="runs", db_constraint=False)
    version = models.ForeignKey(AgentVersion, models.PROTECT, related_name="+", db_constraint=False)
    execution = models.OneToOneField(Execution, models.PROTECT, related_name="run", db_constraint=False)
    is_live = models.BooleanField(default=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["email", "agent"], condition=models.Q(is_live=True), name="agents_one_live_run_per_email"
            )
        ]
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="agents_run_list")]

    def __str__(self) -> str:
        return f"run {str(self.id)[:8]}"

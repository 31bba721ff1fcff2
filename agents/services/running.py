"""A run in the hands of a worker: what is recorded of it, and what its agent may use."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from agents.models import Agent, AgentVersion, Execution, ExecutionStep
from agents.queries.agents import Limits
from agents.services import leasing, planning
from agents.services.leasing import Lease, Step
from agents.services.planning import Recorded
from agents.tools import Tool
from agents.types import StepKind
from inbox.queries import conversations
from inbox.queries.conversations import MailContext
from kernel.context import Actor
from kernel.transactions import in_workspace


@dataclass
class Run:
    """Loaded once per claim; `steps` grows with what this worker records."""

    lease: Lease
    email_id: UUID
    run_id: UUID
    agent: Agent
    version: AgentVersion
    spent_micros: int
    steps: list[Recorded]
    attempts: int = 1
    _mail: MailContext | None = field(default=None, repr=False)

    @property
    def workspace_id(self) -> UUID:
        return self.lease.workspace_id

    @property
    def limits(self) -> Limits:
        return Limits.of(self.version)

    @property
    def actor(self) -> Actor:
        """Who speaks: the agent, or the caller from outside who proposed the words in its place."""
        return planning.proposer(self.steps) or Actor(kind="agent", id=str(self.agent.id), label=self.agent.name)

    @property
    def is_from_outside(self) -> bool:
        """Whether the words are a caller's, and not the agent's."""
        return planning.proposer(self.steps) is not None

    def may(self, tool: Tool) -> bool:
        """Whether the version's grants cover what the registry says that the tool needs."""
        return tool.permission in self.limits.permissions

    def mail(self) -> MailContext:
        """The mail and its thread. A resumed run reads it again: what came before a mail does not change."""
        if self._mail is None:
            with in_workspace(self.workspace_id):
                self._mail = conversations.mail_context(email_id=self.email_id)
        return self._mail

    def record(self, kind: StepKind, title: str, started_at: datetime, **content: Any) -> None:
        """Record the next step in the current unit of work; it counts for this worker once that commits."""
        position = self.steps[-1].position + 1 if self.steps else 1
        step = Step(position=position, kind=kind, title=title, started_at=started_at, **content)
        leasing.record(self.lease, step)
        self.steps.append(Recorded(position, kind, step.arguments, step.result))
        self.spent_micros += step.cost_micros
        self.attempts = 1


def load(lease: Lease) -> Run:
    """The run behind a claim, with its recorded steps."""
    with in_workspace(lease.workspace_id):
        execution = Execution.objects.select_related("agent", "version", "run").get(id=lease.execution_id)
        rows = ExecutionStep.objects.filter(execution_id=execution.id).order_by("position")
        steps = [
            Recorded(position, StepKind(kind), arguments, result)
            for position, kind, arguments, result in rows.values_list("position", "kind", "arguments", "result")
        ]
    return Run(
        lease=lease,
        email_id=execution.run.email_id,
        run_id=execution.run.id,
        agent=execution.agent,
        version=execution.version,
        spent_micros=execution.cost_micros,
        steps=steps,
        attempts=lease.attempts,
    )

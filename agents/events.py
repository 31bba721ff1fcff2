"""Facts about the work of agents. All public: integrators follow runs and approvals with them."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class AgentChanged(DomainEvent):
    """Base of the facts about an agent itself. `agent_version` is the one that is current now."""

    aggregate: ClassVar[str] = "agent_id"
    public: ClassVar[bool] = True

    agent_id: UUID
    agent_version: int


@dataclass(frozen=True, kw_only=True)
class AgentCreated(AgentChanged):
    slug: ClassVar[str] = "agent.created"


@dataclass(frozen=True, kw_only=True)
class AgentUpdated(AgentChanged):
    """A new version of the agent began."""

    slug: ClassVar[str] = "agent.updated"


@dataclass(frozen=True, kw_only=True)
class AgentDeleted(AgentChanged):
    """The agent is gone, and no inbox is bound to it any more."""

    slug: ClassVar[str] = "agent.deleted"


@dataclass(frozen=True, kw_only=True)
class AgentRestored(AgentChanged):
    """An operator has brought a deleted agent back under its id: paused, and bound to no inbox."""

    slug: ClassVar[str] = "agent.restored"


@dataclass(frozen=True, kw_only=True)
class AgentRunStarted(DomainEvent):
    """An agent was given a mail; a worker will take it up."""

    slug: ClassVar[str] = "agent_run.started"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "agent_run_id"

    agent_run_id: UUID
    agent_id: UUID
    email_id: UUID


@dataclass(frozen=True, kw_only=True)
class AgentRunFinished(DomainEvent):
    """A run is over: answered, or left to a person, and what it cost."""

    slug: ClassVar[str] = "agent_run.finished"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "agent_run_id"

    agent_run_id: UUID
    agent_id: UUID
    email_id: UUID
    status: str
    outcome: str
    reason: str
    provider: str
    model: str
    used_language_model: bool
    input_tokens: int
    output_tokens: int
    cost_micros: int


@dataclass(frozen=True, kw_only=True)
class ApprovalEvent(DomainEvent):
    """Base of the facts about a question to a person."""

    aggregate: ClassVar[str] = "approval_id"
    public: ClassVar[bool] = True

    approval_id: UUID
    agent_run_id: UUID
    email_id: UUID
    action: str
    risk: str


@dataclass(frozen=True, kw_only=True)
class ApprovalRequested(ApprovalEvent):
    slug: ClassVar[str] = "approval.requested"

    reason: str
    expires_at: str


@dataclass(frozen=True, kw_only=True)
class ApprovalDecided(ApprovalEvent):
    """`decision` is approved or rejected; `edited` says that the person changed the content first."""

    slug: ClassVar[str] = "approval.decided"

    decision: str
    edited: bool
    decided_by_kind: str
    decided_by_id: str


@dataclass(frozen=True, kw_only=True)
class ApprovalExpired(ApprovalEvent):
    """Nobody decided in time. Not a rejection: no person said no (AG-10)."""

    slug: ClassVar[str] = "approval.expired"

"""Factories of agents."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from agents.models import (
    ActionIntent,
    Agent,
    AgentRun,
    AgentVersion,
    ApprovalRequest,
    Execution,
    ExecutionStep,
    KnowledgeChunk,
    KnowledgeSource,
)
from agents.models.knowledge import DIMENSIONS
from agents.types import Autonomy, Decision, IntentStatus, Risk, StepKind
from inbox.models import Email
from kernel import clock
from tests.factories.registry import FACTORIES, create, digest, factory, unique


@factory(Agent)
def _agent(workspace_id: UUID, **given: Any) -> Agent:
    return create(Agent, workspace_id, given, name="Helper")


@factory(AgentVersion)
def _version(workspace_id: UUID, **given: Any) -> AgentVersion:
    return create(
        AgentVersion, workspace_id, given, agent=lambda: _agent(workspace_id), number=1, autonomy=Autonomy.DRAFT
    )


@factory(Execution)
def _execution(workspace_id: UUID, **given: Any) -> Execution:
    version = given.pop("version", None) or _version(workspace_id)
    return create(
        Execution,
        workspace_id,
        given,
        version=version,
        agent=version.agent,
        instruction="Answer the mail.",
        instruction_hash=digest,
    )


@factory(ExecutionStep)
def _step(workspace_id: UUID, **given: Any) -> ExecutionStep:
    return create(
        ExecutionStep,
        workspace_id,
        given,
        execution=lambda: _execution(workspace_id),
        position=1,
        kind=StepKind.CONTEXT,
        title="Read the conversation",
        started_at=clock.now,
    )


@factory(ActionIntent)
def _intent(workspace_id: UUID, **given: Any) -> ActionIntent:
    return create(
        ActionIntent,
        workspace_id,
        given,
        idempotency_key=lambda: unique("intent"),
        execution=lambda: _execution(workspace_id),
        action="inbox.reply",
        content_hash=digest,
        risk=Risk.LOW,
        decision=Decision.ASK,
        decision_reason="a person decides",
        status=IntentStatus.WAITING_APPROVAL,
    )


@factory(ApprovalRequest)
def _approval(workspace_id: UUID, **given: Any) -> ApprovalRequest:
    return create(
        ApprovalRequest,
        workspace_id,
        given,
        intent=lambda: _intent(workspace_id),
        action="inbox.reply",
        risk=Risk.LOW,
        reason="a person decides",
        snapshot={},
        content_hash=digest,
        requested_by="Helper",
        expires_at=lambda: clock.now() + timedelta(hours=1),
    )


@factory(AgentRun)
def _run(workspace_id: UUID, **given: Any) -> AgentRun:
    execution = given.pop("execution", None) or _execution(workspace_id)
    return create(
        AgentRun,
        workspace_id,
        given,
        execution=execution,
        agent=execution.agent,
        version=execution.version,
        email=lambda: FACTORIES[Email](workspace_id),
    )


@factory(KnowledgeSource)
def _source(workspace_id: UUID, **given: Any) -> KnowledgeSource:
    return create(KnowledgeSource, workspace_id, given, title="Refunds", content="Within 30 days.", content_hash=digest)


@factory(KnowledgeChunk)
def _chunk(workspace_id: UUID, **given: Any) -> KnowledgeChunk:
    return create(
        KnowledgeChunk,
        workspace_id,
        given,
        source=lambda: _source(workspace_id),
        position=1,
        text="Within 30 days.",
        model="test",
        embedding=[0.0] * DIMENSIONS,
    )

"""What agents did, asked and know."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from agents import tools
from agents.models import (
    ActionIntent,
    AgentRun,
    AgentVersion,
    ApprovalRequest,
    Execution,
    ExecutionStep,
    KnowledgeSource,
)
from inbox.models import Entry
from kernel import clock
from tests.console.seed import World


def run(
    world: World,
    entry: Entry,
    answer: str,
    *,
    status: str = "succeeded",
    decision: str = "allow",
    reason: str = "low risk, within supervised autonomy",
    sent: Entry | None = None,
    model: bool = True,
    at: datetime,
) -> tuple[AgentRun, ActionIntent]:
    """A run with its steps and the one thing that it wanted."""
    version = AgentVersion.objects.get(agent=world.agent, number=1)
    ended = status not in ("waiting_approval", "running")
    execution = Execution.objects.create(
        workspace=world.workspace,
        agent=world.agent,
        version=version,
        instruction="Answer the customer's mail from the workspace's knowledge.",
        instruction_hash=hashlib.sha256(b"x").digest(),
        status=status,
        outcome="answered" if status == "succeeded" else "",
        reason=reason if status != "succeeded" else "answered from knowledge",
        provider="anthropic" if model else "local",
        model="claude-sonnet" if model else "",
        used_language_model=model,
        input_tokens=1840 if model else 0,
        output_tokens=212 if model else 0,
        cost_micros=8700 if model else 0,
        started_at=at,
        finished_at=at + timedelta(seconds=9) if ended else None,
    )
    arguments = {"email_id": str(entry.email_id), "text": answer}
    steps: list[dict[str, Any]] = [
        {"kind": "context", "title": "Read the conversation", "tool": "inbox.read_thread", "result": {"entries": 1}},
        {
            "kind": "knowledge",
            "title": "Found 2 passages",
            "tool": "knowledge.search",
            "arguments": {"query": entry.subject},
            "result": {
                "passages": [{"source": "Returns and refunds", "score": 0.83}, {"source": "Shipping", "score": 0.61}]
            },
        },
        {
            "kind": "model",
            "title": "Proposed an answer",
            "result": {"confidence": 0.86},
            "input_tokens": 1840,
            "output_tokens": 212,
        }
        if model
        else {"kind": "model", "title": "Answered from the best passage, without a language model"},
        {
            "kind": "plan",
            "title": "Reply to the customer",
            "tool": "inbox.reply",
            "arguments": arguments,
            "risk": "low",
        },
        {
            "kind": "action",
            "title": "Reply",
            "tool": "inbox.reply",
            "permission": "email.send",
            "status": "done" if sent else "waiting",
        },
    ]
    for position, step in enumerate(steps, start=1):
        ExecutionStep.objects.create(
            workspace=world.workspace,
            execution=execution,
            position=position,
            cost_micros=8700 if step["kind"] == "model" and model else 0,
            started_at=at,
            finished_at=at,
            **step,
        )
    row = AgentRun.objects.create(
        workspace=world.workspace,
        email_id=entry.email_id,
        agent=world.agent,
        version=version,
        execution=execution,
        is_live=not ended,
    )
    intent = ActionIntent.objects.create(
        workspace=world.workspace,
        idempotency_key=f"reply:{entry.email_id}:{world.agent.id}",
        execution=execution,
        action="inbox.reply",
        arguments=arguments,
        content_hash=content_hash(arguments),
        risk="low" if decision == "allow" else "medium",
        decision=decision,
        decision_reason=reason,
        status="executed" if sent else "waiting_approval",
        entry_id=sent.id if sent else None,
        executed_at=at if sent else None,
    )
    return row, intent


def content_hash(arguments: dict[str, Any]) -> bytes:
    return tools.content_hash(tools.REPLY, arguments)


def question(
    world: World, intent: ActionIntent, *, reason: str, risk: str = "medium", hours: float = 40
) -> ApprovalRequest:
    return ApprovalRequest.objects.create(
        workspace=world.workspace,
        intent=intent,
        action=intent.action,
        risk=risk,
        reason=reason,
        snapshot={"action": intent.action} | intent.arguments,
        content_hash=intent.content_hash,
        requested_by=f"agent:{world.agent.id}",
        expires_at=clock.now() + timedelta(hours=hours),
    )


def knowledge(world: World, title: str, content: str) -> KnowledgeSource:
    return KnowledgeSource.objects.create(
        workspace=world.workspace, title=title, content=content, content_hash=hashlib.sha256(content.encode()).digest()
    )

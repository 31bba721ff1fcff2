"""What `agent_runs` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from autonomous_inbox.types.shared import Approval, Risk

Decision = Literal["allow", "ask", "deny"]

ExecutionStatus = Literal[
    "queued", "running", "waiting_approval", "waiting_effect", "succeeded", "needs_human", "failed", "stopped"
]

IntentStatus = Literal[
    "waiting_approval", "approved", "executing", "executed", "uncertain", "failed", "rejected", "expired", "blocked"
]

StepKind = Literal["context", "knowledge", "model", "plan", "action", "note"]

StepStatus = Literal["running", "done", "waiting", "failed"]


class Intent(TypedDict):
    id: str
    action: str
    arguments: Mapping[str, Any]
    risk: Risk
    decision: Decision
    decision_reason: str
    status: IntentStatus
    entry_id: str | None
    error: str
    executed_at: str | None


class Run(TypedDict):
    """An agent's run against a mail. `used_language_model` is false when the offline provider answered."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    email_id: str
    agent_id: str
    execution_id: str
    version: int
    status: ExecutionStatus
    outcome: str
    reason: str
    error_code: str
    provider: str
    model: str
    used_language_model: bool
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str | None
    finished_at: str | None


class RunDetail(TypedDict):
    """An agent's run against a mail. `used_language_model` is false when the offline provider answered."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    email_id: str
    agent_id: str
    execution_id: str
    version: int
    status: ExecutionStatus
    outcome: str
    reason: str
    error_code: str
    provider: str
    model: str
    used_language_model: bool
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str | None
    finished_at: str | None
    steps: Sequence[Step]
    intent: Intent | None
    approval: Approval | None


class Step(TypedDict):
    position: int
    kind: StepKind
    title: str
    tool: str
    permission: str
    risk: str
    status: StepStatus
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str
    finished_at: str | None

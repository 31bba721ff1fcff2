"""Who works on an execution: a lease with a rising token, checked by every write (§1.5).

The row is the queue. Its attempt is counted before any work, so that a run which kills its worker is noticed; a done
step starts the count anew. A worker whose lease ran out finds its token overtaken and changes nothing any more.
"""

import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from agents.models import Execution
from agents.tools import Tool
from agents.types import ExecutionStatus, StepKind, StepStatus
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.queries import control


class Halted(Exception):
    """The workspace was stopped since the claim: nothing more is done in this claim, and the execution waits."""


class LeaseLost(Exception):
    """Another worker has this execution now, or it has ended. Stop without writing."""


@dataclass(frozen=True)
class Lease:
    """A claim on an execution. `attempts` includes this one."""

    execution_id: UUID
    workspace_id: UUID
    token: int
    attempts: int
    generation: int


@dataclass(frozen=True)
class Step:
    """A step to record. What a tool needs and risks comes from the registry."""

    position: int
    kind: StepKind
    title: str
    started_at: datetime
    tool: Tool | None = None
    risk: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    status: StepStatus = StepStatus.DONE
    provider: str = ""
    model: str = ""
    used_language_model: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


_CLAIM = f"""
UPDATE agents_execution SET status = 'running', attempts = attempts + 1, lease_token = lease_token + 1,
    generation = {control.generation_of("agents_execution")},
    due_at = now() + %(lease)s * interval '1 second', started_at = coalesce(started_at, now())
WHERE id = (
    SELECT id FROM agents_execution WHERE status IN ('queued', 'running') AND due_at <= now()
      AND workspace_id <> ALL ({control.STOPPED})
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, workspace_id, lease_token, attempts, generation
"""  # noqa: S608 - pieces of ours

# One statement: the fence, the running totals and the step. Zero rows mean that the lease is lost, or that the workspace
# was stopped. The attempts begin anew at one: this claim is now the first attempt at the next step.
_RECORD = f"""
WITH held AS (
    UPDATE agents_execution SET attempts = 1, due_at = now() + %(lease)s * interval '1 second',
        error_code = '', reason = '',
        provider = coalesce(nullif(%(provider)s, ''), provider), model = coalesce(nullif(%(model)s, ''), model),
        used_language_model = used_language_model OR %(used)s,
        input_tokens = input_tokens + %(input)s, output_tokens = output_tokens + %(output)s,
        cost_micros = cost_micros + %(cost)s
    WHERE id = %(execution)s AND lease_token = %(token)s AND status = 'running'
      AND generation = {control.generation_of("agents_execution")}
    RETURNING id, workspace_id)
INSERT INTO agents_executionstep (id, workspace_id, execution_id, position, kind, tool, permission, risk, title,
    arguments, result, status, input_tokens, output_tokens, cost_micros, started_at, finished_at)
SELECT %(id)s, workspace_id, id, %(position)s, %(kind)s, %(tool)s, %(permission)s, %(risk)s, %(title)s,
    %(arguments)s::jsonb, %(result)s::jsonb, %(status)s, %(input)s, %(output)s, %(cost)s, %(started)s,
    CASE WHEN %(status)s = 'done' THEN clock_timestamp() END
FROM held
"""  # noqa: S608 - pieces of ours


def claim() -> Lease | None:
    """Take the execution that has been due longest, whichever workspace it is of; None when nothing is due."""
    with in_all_workspaces("workers serve every workspace"), connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"lease": settings.RUN_LEASE_SECONDS})
        row = cursor.fetchone()
    return Lease(*row) if row else None


def record(lease: Lease, step: Step) -> None:
    """Write one step and prolong the lease, in the current unit of work. LeaseLost when somebody else has it, Halted when
    the workspace was stopped."""
    tool = step.tool
    values: dict[str, Any] = {
        "lease": settings.RUN_LEASE_SECONDS,
        "execution": lease.execution_id,
        "token": lease.token,
        "id": uuid.uuid4(),
        "position": step.position,
        "kind": step.kind.value,
        "tool": tool.name if tool else "",
        "permission": tool.permission if tool else "",
        "risk": step.risk or (tool.risk.value if tool else ""),
        "title": step.title[:200],
        "arguments": orjson.dumps(step.arguments, default=str).decode(),
        "result": orjson.dumps(step.result, default=str).decode(),
        "status": step.status.value,
        "started": step.started_at,
        "provider": step.provider,
        "model": step.model[:120],
        "used": step.used_language_model,
        "input": step.input_tokens,
        "output": step.output_tokens,
        "cost": step.cost_micros,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, values)
        if cursor.rowcount != 1:
            check(lease)
            raise LeaseLost(str(lease.execution_id))


def check(lease: Lease) -> None:
    """Halted when nothing may leave the workspace any more in this claim. Asked right before every effect outside."""
    if not control.is_current(workspace_id=lease.workspace_id, generation_claimed=lease.generation):
        raise Halted(str(lease.execution_id))


def hold(lease: Lease) -> Execution:
    """Lock the execution for the current unit of work; LeaseLost when this worker has no say any more."""
    execution = (
        Execution.objects.select_for_update(no_key=True, of=("self",))
        .select_related("run")
        .filter(id=lease.execution_id, lease_token=lease.token, status=ExecutionStatus.RUNNING)
        .first()
    )
    if execution is None:
        raise LeaseLost(str(lease.execution_id))
    return execution


def again(lease: Lease, *, seconds: float, code: str, reason: str) -> None:
    """Put the execution back for a later attempt. The attempt stays counted."""
    _return(lease, seconds, code=code, reason=reason, uncount=0)


def release(lease: Lease) -> None:
    """Put the execution back at once, because this worker stops, or its workspace was stopped: that was no attempt."""
    _return(lease, 0.0, code="", reason="", uncount=1)


def _return(lease: Lease, seconds: float, *, code: str, reason: str, uncount: int) -> None:
    with in_workspace(lease.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_execution SET status = 'queued', due_at = now() + %s * interval '1 second', error_code = %s, reason = %s,"
            " attempts = greatest(attempts - %s, 0) WHERE id = %s AND lease_token = %s AND status = 'running'",
            [seconds, code[:60], reason[:500], uncount, lease.execution_id, lease.token],
        )
        if cursor.rowcount != 1:
            raise LeaseLost(str(lease.execution_id))

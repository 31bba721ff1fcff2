"""End a run: its outcome, its last note, its e-mail's state, the fact and the audit row, all at once."""

from typing import Final

from django.db.models import Max

from agents.events import AgentRunFinished
from agents.models import AgentRun, Execution, ExecutionStep
from agents.types import OUTSIDE, ExecutionStatus, Outcome, StepKind, StepStatus
from audit.services import record
from inbox.services import progress
from inbox.types import EmailState
from kernel import clock, outbox
from kernel.transactions import current_unit

# Where a mail goes that the agent leaves to a person: it rests in its thread, with a reason, open for an answer.
WITH_A_PERSON: Final = EmailState.THREADED

_EMAIL_STATE: Final = {
    ExecutionStatus.SUCCEEDED: EmailState.HANDLED,
    ExecutionStatus.NEEDS_HUMAN: WITH_A_PERSON,
    ExecutionStatus.FAILED: WITH_A_PERSON,
}


def close(
    *, execution: Execution, status: ExecutionStatus, outcome: Outcome, reason: str, error_code: str = ""
) -> None:
    """End `execution`, whose row the caller has locked in the current unit of work."""
    current_unit()
    now = clock.now()
    run = AgentRun.objects.get(execution_id=execution.id)
    execution.status, execution.outcome, execution.reason = status, outcome, reason[:500]
    execution.error_code, execution.finished_at = error_code[:60], now
    execution.save(update_fields=["status", "outcome", "reason", "error_code", "finished_at"])
    _settle_steps(execution)
    _note(execution, reason)
    AgentRun.objects.filter(id=run.id, is_live=True).update(is_live=False)
    to = _EMAIL_STATE.get(status)
    if to is not None:
        progress.move(email_id=run.email_id, to=to, reason=outcome if to == EmailState.HANDLED else reason)
    _announce(execution, run)


def _settle_steps(execution: Execution) -> None:
    """No step waits any more."""
    succeeded = execution.status == ExecutionStatus.SUCCEEDED
    ExecutionStep.objects.filter(execution_id=execution.id, status=StepStatus.WAITING).update(
        status=StepStatus.DONE if succeeded else StepStatus.FAILED, finished_at=execution.finished_at
    )


def _note(execution: Execution, reason: str) -> None:
    last = ExecutionStep.objects.filter(execution_id=execution.id).aggregate(at=Max("position"))["at"] or 0
    ExecutionStep.objects.create(
        workspace_id=execution.workspace_id,
        execution_id=execution.id,
        position=last + 1,
        kind=StepKind.NOTE,
        title=_summary(execution),
        result={"status": execution.status, "outcome": execution.outcome, "reason": reason[:500]},
        started_at=execution.finished_at or clock.now(),
        finished_at=execution.finished_at,
    )


def _summary(execution: Execution) -> str:
    """One line for the timeline. It always says whether a language model took part."""
    ends = {
        ExecutionStatus.SUCCEEDED: "Answered",
        ExecutionStatus.NEEDS_HUMAN: "Left to a person",
        ExecutionStatus.FAILED: "Failed",
    }
    if not execution.provider:
        means = "no model was asked"
    elif execution.provider == OUTSIDE:
        means = "in the words of a caller from outside"
    elif execution.used_language_model:
        means = f"with the language model {execution.model or execution.provider}"
    else:
        means = "from the knowledge, without a language model"
    return f"{ends.get(ExecutionStatus(execution.status), 'Stopped')}; {means}"[:200]


def _announce(execution: Execution, run: AgentRun) -> None:
    outbox.emit(
        AgentRunFinished(
            workspace_id=execution.workspace_id,
            agent_run_id=run.id,
            agent_id=run.agent_id,
            email_id=run.email_id,
            status=str(execution.status),
            outcome=str(execution.outcome),
            reason=execution.reason,
            provider=execution.provider,
            model=execution.model,
            used_language_model=execution.used_language_model,
            input_tokens=execution.input_tokens,
            output_tokens=execution.output_tokens,
            cost_micros=execution.cost_micros,
        )
    )
    record(
        workspace_id=execution.workspace_id,
        action="agent_run.finish",
        resource_kind="agent_run",
        resource_id=run.id,
        payload={
            "execution_id": execution.id,
            "email_id": run.email_id,
            "status": str(execution.status),
            "outcome": str(execution.outcome),
            "provider": execution.provider,
            "used_language_model": execution.used_language_model,
            "cost_micros": execution.cost_micros,
        },
    )

"""News of an effect: sent, refused or unknown. The run ends with what the sender found out."""

from uuid import UUID

from agents.models import ActionIntent, Execution
from agents.services import closing
from agents.types import ExecutionStatus, IntentStatus, Outcome
from kernel import clock
from kernel.crash import crash_point
from kernel.transactions import current_unit


def sent(*, entry_id: UUID, provider_ref: str) -> None:
    """The reply is out. Also settles one that was uncertain."""
    found = _locked(entry_id, IntentStatus.EXECUTING, IntentStatus.UNCERTAIN)
    if found is None:
        return
    execution, intent = found
    intent.status, intent.executed_at = IntentStatus.EXECUTED, clock.now()
    intent.provider_ref = provider_ref[:200]
    intent.save(update_fields=["status", "executed_at", "provider_ref"])
    crash_point("run.closed")
    _close(execution, ExecutionStatus.SUCCEEDED, Outcome.ANSWERED, "the answer was sent")


def failed(*, entry_id: UUID, error: str) -> None:
    """The reply was refused for good."""
    found = _locked(entry_id, IntentStatus.EXECUTING, IntentStatus.UNCERTAIN)
    if found is None:
        return
    execution, intent = found
    intent.status, intent.error = IntentStatus.FAILED, error[:500]
    intent.save(update_fields=["status", "error"])
    _close(execution, ExecutionStatus.NEEDS_HUMAN, Outcome.SEND_FAILED, f"the answer could not be sent: {error}")


def uncertain(*, entry_id: UUID, error: str) -> None:
    """Nobody knows whether the reply is out. It is not sent again; news or a person settles it."""
    found = _locked(entry_id, IntentStatus.EXECUTING)
    if found is None:
        return
    execution, intent = found
    intent.status, intent.error = IntentStatus.UNCERTAIN, error[:500]
    intent.save(update_fields=["status", "error"])
    reason = f"the answer may or may not have been sent: {error}"
    _close(execution, ExecutionStatus.NEEDS_HUMAN, Outcome.SEND_UNCERTAIN, reason)


def _locked(entry_id: UUID, *states: IntentStatus) -> tuple[Execution, ActionIntent] | None:
    """The execution and its intent, locked in that order, when there is news for them."""
    current_unit()
    found = ActionIntent.objects.filter(entry_id=entry_id).values_list("id", "execution_id").first()
    if found is None:
        return None
    execution = Execution.objects.select_for_update(no_key=True).get(id=found[1])
    intent = ActionIntent.objects.select_for_update(no_key=True).get(id=found[0])
    return (execution, intent) if intent.status in states else None


def _close(execution: Execution, status: ExecutionStatus, outcome: Outcome, reason: str) -> None:
    closing.close(execution=execution, status=status, outcome=outcome, reason=reason)

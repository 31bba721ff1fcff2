"""The agents' workers. Tasks are wake-ups: rows are the record, so any number may run at once."""

from typing import Any, Final

from celery import shared_task

from agents.services import approving, executing
from kernel import shifts

_RUN: Final = "agents.tasks.run_executions"


@shared_task(name=_RUN)
def run_executions(**_: Any) -> None:
    """Work on due executions until none is left, this worker is asked to stop, or its slice of time is over."""
    with shifts.shift(_RUN) as keep_going:
        executing.run_due(keep_going=keep_going)


@shared_task(name="agents.tasks.expire_approvals")
def expire_approvals(**_: Any) -> None:
    """End the questions that nobody decided in time."""
    approving.expire_due()

"""The agents' workers. Tasks are wake-ups: rows are the record, so any number may run at once."""

import threading
import time
from typing import Any, Final

from celery import shared_task, signals

from agents.services import approving, executing
from kernel import nudge

_RUN: Final = "agents.tasks.run_executions"
# A task ends after this time and wakes the next one, so that a worker under load can still be stopped and recycled.
_SLICE_SECONDS: Final = 60.0

_stopping = threading.Event()


@shared_task(name=_RUN)
def run_executions(**_: Any) -> None:
    """Work on due executions until none is left, this worker is asked to stop, or its slice of time is over."""
    nudge.taken(_RUN)
    ends = time.monotonic() + _SLICE_SECONDS
    executing.run_due(keep_going=lambda: not _stopping.is_set() and time.monotonic() < ends)
    if time.monotonic() >= ends:
        nudge.wake(_RUN)


@shared_task(name="agents.tasks.expire_approvals")
def expire_approvals(**_: Any) -> None:
    """End the questions that nobody decided in time."""
    approving.expire_due()


@signals.worker_shutting_down.connect
def stop(**_: Any) -> None:
    """Finish the present step, put the execution back, take no new one."""
    _stopping.set()

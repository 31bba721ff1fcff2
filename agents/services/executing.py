"""The worker's loop: take a due execution, do its steps, and bring it to an end or back into the queue.

A worker may die anywhere. What it recorded stays, what it did not record is done again by the next one, and an effect
outside happens through an intent, at most once.
"""

import logging
from collections.abc import Callable

from django.conf import settings

from agents.llm.base import ModelError
from agents.services import leasing, running, stepping
from agents.services.leasing import Halted, Lease, LeaseLost
from agents.services.running import Run
from agents.types import Outcome
from kernel import context
from kernel.crash import crash_point

logger = logging.getLogger(__name__)

KeepGoing = Callable[[], bool]


def run_due(*, keep_going: KeepGoing = lambda: True, limit: int = 10_000) -> int:
    """Work on due executions, one after another, until none is left or `keep_going` says no; how many were taken."""
    taken = 0
    while taken < limit and keep_going():
        lease = leasing.claim()
        if lease is None:
            break
        taken += 1
        crash_point("run.claimed")
        work(lease, keep_going=keep_going)
    return taken


def work(lease: Lease, *, keep_going: KeepGoing = lambda: True) -> None:
    """One claimed execution, whatever happens: its faults end here."""
    token = context.execution_id.set(lease.execution_id)
    try:
        run = running.load(lease)
        with context.acting_as(run.actor):
            _drive(run, keep_going)
    except Halted:
        _put_back(lease)
    except LeaseLost:
        logger.info("another worker has taken this execution over", extra={"execution_id": str(lease.execution_id)})
    except Exception:
        # Not even its end could be written. Its lease ends by itself, and the other executions go on.
        logger.exception("an execution could not be worked on", extra={"execution_id": str(lease.execution_id)})
    finally:
        context.execution_id.reset(token)


def _put_back(lease: Lease) -> None:
    """For the time after the release of the emergency stop."""
    logger.info("the workspace is stopped; this execution waits", extra={"execution_id": str(lease.execution_id)})
    try:
        leasing.release(lease)
    except LeaseLost:
        logger.info("another worker has it already", extra={"execution_id": str(lease.execution_id)})


def _drive(run: Run, keep_going: KeepGoing) -> None:
    if run.attempts > max_attempts():
        stepping.give_up(run, Outcome.POISON, "its worker died at each attempt", code="poison")
        return
    try:
        while stepping.advance(run):
            if not keep_going():
                leasing.release(run.lease)
                return
    except (LeaseLost, Halted):
        raise
    except ModelError as error:
        wait = error.retry_after or 0.0
        _failed(run, Outcome.MODEL_FAILED, error.code, error.detail, retryable=error.retryable, wait=wait)
    except Exception as error:
        logger.exception("a step of a run failed", extra={"execution_id": str(run.lease.execution_id)})
        _failed(run, Outcome.FAULT, type(error).__name__, f"{type(error).__name__}: {error}", retryable=True)


def _failed(run: Run, outcome: Outcome, code: str, reason: str, *, retryable: bool, wait: float = 0.0) -> None:
    """Later again, as long as the schedule has a next time; else a person."""
    waits = settings.RUN_RETRY_SECONDS
    if retryable and run.attempts <= len(waits):
        seconds = max(float(waits[run.attempts - 1]), min(wait, float(waits[-1])))
        leasing.again(run.lease, seconds=seconds, code=code, reason=reason)
        return
    tries = f" (tried {run.attempts} times)" if run.attempts > 1 else ""
    stepping.give_up(run, outcome, f"{reason}{tries}", code=code)


def max_attempts() -> int:
    """The first attempt and one for each wait of the schedule."""
    return len(settings.RUN_RETRY_SECONDS) + 1

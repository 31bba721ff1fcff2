"""A task that fails leaves a record in the estate's trail, beside its line in the log."""

import logging
import threading
import time
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from audit import services
from audit.types import Outcome
from kernel.context import ESTATE, Actor, Attempt

logger = logging.getLogger(__name__)

_MOST = 1000
_lock = threading.Lock()
_last: dict[tuple[str, str], float] = {}


def note(*, task: str, error: BaseException) -> None:
    """Record it: of each task and kind of error one in a window, since a sweep that fails does so every few seconds."""
    group, now = (task, type(error).__name__), time.monotonic()
    with _lock:
        if now - _last.get(group, -float("inf")) < settings.REFUSAL_AUDIT_SECONDS or len(_last) > _MOST:
            return
        _last[group] = now
    attempt = Attempt(ESTATE, Actor(kind="system", id="task", label=task), f"task.{task}", "task", task)
    try:
        services.record_refusal(attempt, outcome=Outcome.FAILED, code=type(error).__name__, status=500)
    except DatabaseError:
        logger.exception("a failed task could not be recorded", extra={"failed_task": task})


def connected(sender: Any = None, exception: BaseException | None = None, **_: Any) -> None:
    """Celery's signal of a task that has failed."""
    if exception is not None:
        note(task=str(getattr(sender, "name", sender)), error=exception)

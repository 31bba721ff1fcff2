"""Celery's scheduler, made safe to run twice: time is cut into slots, and a row says who sends a job for each of them.

Two schedulers agree on the slots because these are counted from the epoch, not from when a scheduler began. Nothing is
kept in a file: what was missed while none ran is found by the sweeps.
"""

import logging
import math
from typing import Any

from celery import beat
from celery.schedules import crontab, schedstate, schedule
from django.db import Error as DatabaseError
from django.db import connection

from kernel import clock, periodic

logger = logging.getLogger(__name__)


class Slots(schedule):
    """Every so many seconds, at the same moments for everybody."""

    def is_due(self, last_run_at: Any) -> schedstate:
        """Due when a new slot has begun since the last run; then how long the present one still lasts."""
        every, now = float(self.seconds), self.now().timestamp()
        begun = slot_of(self, now) > slot_of(self, self.maybe_make_aware(last_run_at).timestamp())
        return schedstate(begun, every - math.fmod(now, every))


def slot_of(when: Any, moment: float) -> int:
    """The number of the slot that a moment lies in: minutes for a crontab, which can be due once in each."""
    every = 60.0 if isinstance(when, crontab) else float(when.seconds)
    return int(moment // every)


class Scheduler(beat.Scheduler):
    """Sends what it could claim, and leaves to another what that has claimed."""

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a job that is due, unless another scheduler has sent it for this slot."""
        slot = slot_of(entry.schedule, clock.now().timestamp())
        try:
            is_ours = periodic.claim(name=entry.name, slot=slot)
        except DatabaseError:
            # Without the database no task could do anything; the next slot is another try.
            logger.warning("the scheduler cannot reach the database", extra={"job": entry.name})
            connection.close()
            return
        if is_ours:
            entry.options = {**entry.options, "headers": {"slot": slot}}
            super().apply_entry(entry, producer=producer)

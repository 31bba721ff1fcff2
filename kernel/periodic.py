"""Whose turn it is: of any number of schedulers, one sends each job of each slot of time (I2)."""

from django.db import connection

# One row for a job, and its slot only rises: a scheduler that was stopped, or whose clock is late, comes too late.
_CLAIM = """
INSERT INTO kernel_periodicjob (name, slot, at) VALUES (%(name)s, %(slot)s, now())
ON CONFLICT (name) DO UPDATE SET slot = EXCLUDED.slot, at = EXCLUDED.at WHERE kernel_periodicjob.slot < EXCLUDED.slot
"""


def claim(*, name: str, slot: int) -> bool:
    """Whether the caller is the one to send this job for this slot; committed before anything is sent."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"name": name, "slot": slot})
        return bool(cursor.rowcount == 1)

"""The words of the audit trail."""

from enum import StrEnum


class Outcome(StrEnum):
    """How an attempt ended. Refusals are recorded as carefully as successes."""

    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"

"""The words of the audit trail."""

from enum import StrEnum


class Outcome(StrEnum):
    """How an attempt ended. Refusals are recorded as carefully as successes."""

    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"


class Format(StrEnum):
    """How the trail is taken out."""

    JSONL = "jsonl"
    CSV = "csv"

    @property
    def media_type(self) -> str:
        return "text/csv; charset=utf-8" if self is Format.CSV else "application/jsonl"

"""The one place that reads the time, so that tests can freeze it and rules can take it as an argument."""

from datetime import UTC, datetime


def now() -> datetime:
    """The current instant, aware, in UTC."""
    return datetime.now(UTC)

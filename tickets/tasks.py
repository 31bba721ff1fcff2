"""The desk's housekeeping."""

from typing import Any

from celery import shared_task

from tickets.services import viewing


@shared_task(name="tickets.tasks.fold_counts")
def fold_counts(**_: Any) -> None:
    """Put the counters' rows together, so that sums stay short."""
    viewing.fold_counts()

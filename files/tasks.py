"""The scanner's worker. Rows are the record, so any number may run at once."""

from typing import Any

from celery import shared_task

from files.services import scanning


@shared_task(name="files.tasks.scan_files")
def scan_files(**_: Any) -> None:
    """Scan files until none is due."""
    while scanning.scan_due():
        pass

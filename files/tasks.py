"""The scanner's worker. Rows are the record, so any number may run at once."""

from typing import Any, Final

from celery import shared_task

from files.services import scanning
from kernel import shifts

_SCAN: Final = "files.tasks.scan_files"


@shared_task(name=_SCAN)
def scan_files(**_: Any) -> None:
    """Scan files until none is due."""
    with shifts.shift(_SCAN) as keep_going:
        while keep_going() and scanning.scan_due(limit=1):
            pass

"""The request log's writer: what was answered is laid on a shelf, and a thread of each process carries it away.

A request costs one append. When the database is away, or more is answered than can be written, lines are lost and
counted in a log line; no request waits and none fails. What a killed process had not yet written is lost, too.
"""

import atexit
import logging
import os
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from django.conf import settings
from django.db import connection

from audit import services
from audit.models import ApiRequest

logger = logging.getLogger(__name__)

_BATCH = 500


@dataclass
class _Shelf:
    """What waits to be written, and the thread that writes it."""

    rows: deque[ApiRequest] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)
    thread: threading.Thread | None = None
    lost: int = 0


_shelf = _Shelf()


def forget() -> None:
    """Begin with an empty shelf, as a forked process must: the thread of its parent does not run there, and what its parent
    holds is its parent's to write."""
    global _shelf  # noqa: PLW0603 - a lock that was held elsewhere cannot be opened, only replaced
    _shelf = _Shelf()


os.register_at_fork(after_in_child=forget)


def keep(row: ApiRequest) -> None:
    """Have a row written soon."""
    if len(_shelf.rows) >= settings.REQUEST_LOG_BUFFER:
        _shelf.lost += 1
        return
    _shelf.rows.append(row)
    if _shelf.thread is None and settings.REQUEST_LOG_FLUSH_SECONDS:
        _start()


def _start() -> None:
    with _shelf.lock:
        if _shelf.thread is None:
            _shelf.thread = threading.Thread(target=_run, name="request-log", daemon=True)
            _shelf.thread.start()
            atexit.register(flush)


def _run() -> None:
    while True:
        time.sleep(settings.REQUEST_LOG_FLUSH_SECONDS)
        if not flush():
            # Nothing to do just now: a process at rest holds no connection for it.
            connection.close()


def flush() -> int:
    """Write what waits; how many rows that were."""
    written = 0
    while _shelf.rows:
        rows = [_shelf.rows.popleft() for _ in range(min(_BATCH, len(_shelf.rows)))]
        try:
            services.keep_requests(rows)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the database, requests go on
            logger.warning("the request log could not be written", extra={"lost": len(rows), "error": str(error)})
            connection.close()
            return written
        written += len(rows)
    if _shelf.lost:
        logger.warning("more requests were answered than could be written down", extra={"lost": _shelf.lost})
        _shelf.lost = 0
    return written

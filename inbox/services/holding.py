"""Hold what a worker has claimed for as long as it works on it.

A lease is to say that its worker lives, not how long the work may take: a batch of mails that each cost all that a mail may
takes longer than a dead worker's mail should wait. So the lease is short and is prolonged beside the work, by a thread
that dies with the worker. Whoever is held up as a whole loses it all the same; then the token of the claim keeps its
writes away.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from kernel.transactions import in_all_workspaces

logger = logging.getLogger(__name__)

# However short the lease, the database is not asked without end.
_LEAST_SECONDS = 0.2
# Whoever is at it after so many leases hangs, and what it holds is for others.
_MOST_LEASES = 10

# What is due at another time is no longer held: it is tried again later, or somebody else has it. Locked in the order in
# which mails are filed.
_PROLONG = """
WITH held AS MATERIALIZED (
    SELECT id FROM inbox_inboundmessage WHERE id = ANY (%(ids)s) AND state = 'stored' AND due_at = %(until)s
    ORDER BY id FOR NO KEY UPDATE)
UPDATE inbox_inboundmessage m SET due_at = now() + %(lease)s FROM held WHERE m.id = held.id
RETURNING m.due_at
"""


@contextmanager
def held(message_ids: Sequence[UUID], *, until: datetime) -> Iterator[None]:
    """Prolong the lease of these messages, which were claimed together until then, as long as the caller is inside."""
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(message_ids, until, over), name="ingest-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _keep(message_ids: Sequence[UUID], until: datetime, over: threading.Event) -> None:
    """Thrice in a lease, so that one time may fail; until nothing of it is left."""
    held_until: datetime | None = until
    for _ in range(3 * _MOST_LEASES):
        if over.wait(max(settings.INGEST_LEASE_SECONDS / 3, _LEAST_SECONDS)) or not held_until:
            return
        try:
            held_until = _prolong(message_ids, held_until)
        except (OperationalError, InterfaceError):
            logger.warning("a lease could not be prolonged", exc_info=True)
        finally:
            connection.close()


def _prolong(message_ids: Sequence[UUID], until: datetime) -> datetime | None:
    """Until when they are held now; None when none is held any more."""
    values: dict[str, Any] = {
        "ids": list(message_ids),
        "until": until,
        "lease": timedelta(seconds=settings.INGEST_LEASE_SECONDS),
    }
    with in_all_workspaces("the ingest serves every workspace"), connection.cursor() as cursor:
        cursor.execute(_PROLONG, values)
        row: tuple[datetime] | None = cursor.fetchone()
    return row[0] if row else None

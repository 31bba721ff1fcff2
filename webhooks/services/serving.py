"""The dispatcher's units of work: they see every workspace, and wait for nobody's lock for long.

One thread claims and one writes back, for all endpoints. Whoever works on one webhook may hold its row, or its deliveries,
for minutes; so what the dispatcher locks there it locks with SKIP LOCKED and comes by again. The time-out is for what
cannot be skipped: the round fails, and the loop that made it tries again.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper

from kernel.transactions import in_all_workspaces

# A claim that a crash of the database forgets is made again; nobody has to wait for the disk.
_FORGETFUL = "; SET LOCAL synchronous_commit = off"


@contextmanager
def unit(*, may_forget: bool = False) -> Iterator[CursorWrapper]:
    """A unit of work with a cursor; `may_forget` when a crash of the database may lose it."""
    with in_all_workspaces("the dispatcher serves every workspace"), connection.cursor() as cursor:
        # Far below the lease, so that what a round holds is not sent again because of it.
        cursor.execute("SET LOCAL lock_timeout = '2s'" + (_FORGETFUL if may_forget else ""))
        yield cursor

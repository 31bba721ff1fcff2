"""Tries counted in PostgreSQL, in one statement: parallel tries, on any number of processes, each get a number of their own.

A window begins with its first try and ends by time; more tries do not lengthen it. What succeeds is given back, so that
only failures count, and never anything else: a success of one's own must not buy an attacker new tries.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from kernel import clock
from tenancy.models import Throttle

_TAKE = """
INSERT INTO tenancy_throttle AS t (key, count, until)
SELECT key, 1, %(until)s FROM unnest(%(keys)s::bytea[]) AS key ORDER BY key
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN t.until <= %(now)s THEN 1 ELSE least(t.count, 1000000) + 1 END,
    until = CASE WHEN t.until <= %(now)s THEN excluded.until ELSE t.until END
RETURNING key, count, until
"""
_GIVE_BACK = "UPDATE tenancy_throttle SET count = greatest(count - 1, 0) WHERE key = ANY(%s) AND until > %s"


@dataclass(frozen=True)
class Counter:
    """What is counted together, and how much of it a window has room for."""

    kind: str
    subject: str
    most: int

    @property
    def key(self) -> bytes:
        return hashlib.sha256(f"{self.kind}\x00{self.subject}".encode()).digest()


@dataclass(frozen=True)
class Taken:
    """A try that was counted: whether there was room for it, and whether it is the first for which there was none."""

    counters: tuple[Counter, ...]
    full: tuple[Counter, ...]
    first_full: tuple[Counter, ...]
    until: datetime

    @property
    def is_allowed(self) -> bool:
        return not self.full

    @property
    def minutes_left(self) -> int:
        return max(1, round((self.until - clock.now()).total_seconds() / 60))


def take(*counters: Counter, seconds: float | None = None) -> Taken:
    """Count one try on each counter."""
    now = clock.now()
    until = now + timedelta(seconds=settings.LOGIN_WINDOW_SECONDS if seconds is None else seconds)
    by_key = {counter.key: counter for counter in counters}
    with connection.cursor() as cursor:
        # In one order, so that two tries on the same counters cannot wait for each other.
        cursor.execute(_TAKE, {"keys": sorted(by_key), "now": now, "until": until})
        rows = [(by_key[bytes(key)], count, ends) for key, count, ends in cursor.fetchall()]
    full = [(counter, count, ends) for counter, count, ends in rows if count > counter.most]
    return Taken(
        counters=counters,
        full=tuple(counter for counter, _, _ in full),
        first_full=tuple(counter for counter, count, _ in full if count == counter.most + 1),
        until=max((ends for _, _, ends in full), default=until),
    )


def give_back(taken: Taken) -> None:
    """The try was no failure."""
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, [sorted(counter.key for counter in taken.counters), clock.now()])


def take_once(kind: str, subject: str, *, seconds: float) -> bool:
    """Whether this is the first time, in all processes, within `seconds`: for codes that are good once."""
    return take(Counter(kind, subject, 1), seconds=seconds).is_allowed


def prune() -> int:
    """Forget windows that are over."""
    return Throttle.objects.filter(until__lte=clock.now()).delete()[0]

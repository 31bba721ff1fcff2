"""Volume by day: what came in, what agents answered, what people answered."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from agents.models import Execution
from config.console import counts
from config.console.tags import duration

DAYS = 14
# Entries are read newest first along the index of `seq`, and no further than this, so that a page of a workspace with
# millions of entries opens as fast as any; the chart then begins where reading ended.
READ = 20_000

_STATEMENT = """
SELECT (occurred_at AT TIME ZONE %(zone)s)::date AS day,
       count(*) FILTER (WHERE direction = 'inbound' AND mail_class = 'human') AS received,
       count(*) FILTER (WHERE outbound_kind = 'ai_answer') AS by_agents,
       count(*) FILTER (WHERE outbound_kind = 'human') AS by_people
FROM (SELECT occurred_at, direction, mail_class, outbound_kind FROM inbox_entry WHERE {mine} ORDER BY seq DESC LIMIT %(limit)s) AS e
WHERE occurred_at > %(since)s GROUP BY 1 ORDER BY 1
"""
_MEDIAN = """
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY response_time_seconds)
FROM (SELECT response_time_seconds, occurred_at FROM inbox_entry WHERE {mine} ORDER BY seq DESC LIMIT %(limit)s) AS e
WHERE response_time_seconds IS NOT NULL AND occurred_at > %(since)s
"""


@dataclass
class Day:
    """One day; heights are per cent of the highest bar."""

    day: date
    received: int = 0
    by_agents: int = 0
    by_people: int = 0
    top: int = 1

    @property
    def answered(self) -> int:
        return self.by_agents + self.by_people

    @property
    def received_height(self) -> float:
        return round(100 * self.received / self.top, 1)

    @property
    def agents_height(self) -> float:
        return round(100 * self.by_agents / self.top, 1)

    @property
    def people_height(self) -> float:
        return round(100 * self.by_people / self.top, 1)


def volume(now: datetime, *, workspace_id: UUID | None) -> dict[str, Any]:
    """The days of the chart, and the sums above it."""
    today = timezone.localtime(now).date()
    first = today - timedelta(days=DAYS - 1)
    values: dict[str, Any] = {
        "zone": timezone.get_current_timezone_name(),
        "workspace": workspace_id,
        "limit": READ,
        "since": now - timedelta(days=DAYS),
    }
    mine = counts.MINE if workspace_id else counts.EVERYONE
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT.format(mine=mine), values)
        found = {row[0]: row[1:4] for row in cursor.fetchall()}
        cursor.execute(_MEDIAN.format(mine=mine), values)
        median = cursor.fetchone()[0]
    days = [Day(first + timedelta(days=n), *found.get(first + timedelta(days=n), ())) for n in range(DAYS)]
    top = max(1, *(max(day.received, day.answered) for day in days))
    for day in days:
        day.top = top
    answered, agents = sum(d.answered for d in days), sum(d.by_agents for d in days)
    spent = Execution.objects.filter(created_at__gte=now - timedelta(days=DAYS)).aggregate(sum=Sum("cost_micros"))[
        "sum"
    ]
    return {
        "days": days,
        "top": top,
        "received": sum(d.received for d in days),
        "by_agents": agents,
        "by_people": sum(d.by_people for d in days),
        "share": round(100 * agents / answered) if answered else None,
        "median": duration(median) if median is not None else "–",
        "spent": spent or 0,
    }

"""How the agents' resources are shown beside those that refer to them."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from agents.api import shapes
from agents.queries import agents as agent_queries
from agents.queries import runs as run_queries
from kernel.api.expanding import expandable


@expandable("agent", permission="agent.read", shape=shapes.AgentShape)
def agents(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Agents by id."""
    for row in agent_queries.with_version().filter(id__in=ids):
        yield row.id, shapes.AgentShape.show(row)


@expandable("agent_run", permission="agent.read", shape=shapes.RunShape)
def runs(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Runs by id."""
    for row in run_queries.runs().filter(id__in=ids):
        yield row.id, shapes.RunShape.show(row)


@expandable("latest_run", permission="agent.read", shape=shapes.RunShape)
def latest_runs(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """The latest run of each mail, by the mail's id."""
    for row in (
        run_queries.runs().filter(email_id__in=ids).order_by("email_id", "-created_at", "-id").distinct("email_id")
    ):
        yield row.email_id, shapes.RunShape.show(row)

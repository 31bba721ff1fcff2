"""Agents with their current version."""

from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from django.db.models import F, Prefetch, QuerySet

from agents.models import Agent, AgentVersion
from agents.types import AgentStatus

# What an agent may do when nobody has said otherwise: all that today's tools need.
DEFAULT_PERMISSIONS: Final = ("agent.read", "email.send", "thread.read")


@dataclass(frozen=True)
class Limits:
    """The limits of a version, read from its snapshot."""

    max_steps: int
    max_cost_micros: int
    permissions: frozenset[str]

    @classmethod
    def of(cls, version: AgentVersion) -> "Limits":
        stored = cast("dict[str, Any]", version.limits)
        return cls(
            max_steps=int(stored["max_steps"]),
            max_cost_micros=int(stored["max_cost_micros"]),
            permissions=frozenset(stored.get("permissions", DEFAULT_PERMISSIONS)),
        )


def with_version() -> "QuerySet[Agent]":
    """Live agents of the scope; `current(agent)` then costs no query."""
    versions = AgentVersion.objects.filter(number=F("agent__current_version"))
    return Agent.objects.prefetch_related(Prefetch("versions", queryset=versions, to_attr="present"))


def current(agent: Agent) -> AgentVersion:
    """The version that runs now."""
    present = getattr(agent, "present", None)
    return present[0] if present else AgentVersion.objects.get(agent_id=agent.id, number=agent.current_version)


def bound(agent_id: UUID | None) -> Agent | None:
    """The active agent of that id in the current scope."""
    if agent_id is None:
        return None
    return Agent.objects.filter(id=agent_id, status=AgentStatus.ACTIVE).first()

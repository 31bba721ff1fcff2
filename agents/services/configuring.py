"""Make and change agents. Every change is a new immutable version; what has been approved belongs to one version."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError

from agents import tools
from agents.events import AgentChanged, AgentCreated, AgentDeleted, AgentRestored, AgentUpdated
from agents.llm import registry
from agents.models import Agent, AgentVersion
from agents.queries import agents as queries
from agents.types import AgentStatus, Autonomy
from audit.services import record
from inbox.services import inboxes
from kernel import clock, context, outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace

MAX_PROMPT: Final = 50_000
MAX_SKILLS: Final = 50
MAX_SKILL: Final = 10_000

_OF_AGENT: Final = ("name", "status", "autonomy", "max_steps", "max_cost_micros", "custom_metadata")
_OF_VERSION: Final = ("provider", "model", "system_prompt", "skills", "permissions")


class ExternalIdTaken(Conflict):
    code = "external_id_taken"


def create(*, workspace_id: UUID, name: str, external_id: UUID | None = None, **fields: Any) -> Agent:
    """A new agent with its first version. Without other words it drafts: a person sees each answer first."""
    values = _checked({"name": name, **fields})
    try:
        with in_workspace(workspace_id):
            agent = Agent.objects.create(
                workspace_id=workspace_id,
                external_id=external_id or uuid4(),
                **{key: values[key] for key in _OF_AGENT if key in values},
            )
            _snapshot(agent, before=None, values=values)
            _tell(agent, AgentCreated, "agent.create", values)
    except IntegrityError as error:
        raise ExternalIdTaken("An agent with this external_id exists already.", pointer="/external_id") from error
    return agent


def update(*, workspace_id: UUID, agent_id: UUID, **changes: Any) -> Agent:
    """Change an agent: the present version stays as it is and the next one begins."""
    values = _checked(changes)
    with in_workspace(workspace_id):
        agent = _locked(agent_id)
        before = queries.current(agent)
        for key in _OF_AGENT:
            if key in values:
                setattr(agent, key, values[key])
        agent.current_version += 1
        agent.save(update_fields=["current_version", *(key for key in _OF_AGENT if key in values)])
        _snapshot(agent, before=before, values=values)
        _tell(agent, AgentUpdated, "agent.update", values)
        agent.refresh_from_db()
    return agent


def pause(*, workspace_id: UUID, agent_id: UUID) -> Agent:
    """Stop an agent: it starts no run, and nothing that it still wants happens."""
    return update(workspace_id=workspace_id, agent_id=agent_id, status=AgentStatus.PAUSED)


def activate(*, workspace_id: UUID, agent_id: UUID) -> Agent:
    """Let a paused agent work again."""
    return update(workspace_id=workspace_id, agent_id=agent_id, status=AgentStatus.ACTIVE)


def delete(*, workspace_id: UUID, agent_id: UUID) -> None:
    """Mark an agent as deleted and take it from its inboxes. Its runs and versions stay."""
    with in_workspace(workspace_id):
        # Inboxes first, as everybody locks them; again behind the lock, for those that were bound until then.
        if Agent.objects.filter(id=agent_id).exists():
            inboxes.unbind(agent_id=agent_id)
        agent = _locked(agent_id)
        agent.deleted_at = clock.now()
        agent.save(update_fields=["deleted_at"])
        inboxes.unbind(agent_id=agent_id)
        _tell(agent, AgentDeleted, "agent.delete", {})


def restore(*, workspace_id: UUID, agent_id: UUID) -> Agent:
    """Bring a deleted agent back under its id, for operators (S0-28): paused, bound to nothing, with what it knew.

    Raises Conflict when what its version needs is not there any more (S0-29).
    """
    with in_workspace(workspace_id):
        agent = Agent.with_deleted.select_for_update(of=("self",)).filter(id=agent_id, deleted_at__isnull=False).first()
        if agent is None:
            raise NotFound("No deleted agent of this workspace has that id.")
        version = queries.current(agent)
        complaint = _provider(version.provider) or _permissions(sorted(queries.Limits.of(version).permissions))
        if complaint:
            raise Conflict(f"The agent cannot be restored as it was. {complaint}")
        agent.deleted_at, agent.status = None, AgentStatus.PAUSED
        agent.current_version += 1
        agent.save(update_fields=["deleted_at", "status", "current_version"])
        _snapshot(agent, before=version, values={})
        _tell(agent, AgentRestored, "agent.restore", {})
        agent.refresh_from_db()
    return agent


def _locked(agent_id: UUID) -> Agent:
    agent = Agent.objects.select_for_update(of=("self",)).filter(id=agent_id).first()
    if agent is None:
        raise NotFound
    return agent


def _snapshot(agent: Agent, *, before: AgentVersion | None, values: Mapping[str, Any]) -> None:
    """The agent as it now is. What did not change is taken from the version before."""
    limits = dict(before.limits) if before else {"permissions": list(queries.DEFAULT_PERMISSIONS)}
    limits |= {"max_steps": agent.max_steps, "max_cost_micros": agent.max_cost_micros}
    if "permissions" in values:
        limits["permissions"] = values["permissions"]

    def kept(name: str, default: Any) -> Any:
        return values.get(name, getattr(before, name) if before else default)

    AgentVersion.objects.create(
        workspace_id=agent.workspace_id,
        agent=agent,
        number=agent.current_version,
        provider=kept("provider", ""),
        model=kept("model", ""),
        system_prompt=kept("system_prompt", ""),
        skills=kept("skills", []),
        autonomy=agent.autonomy,
        limits=limits,
        created_by=_author(),
    )


def _author() -> str:
    who = context.actor.get()
    return (who.label or f"{who.kind}:{who.id}")[:200]


def _tell(agent: Agent, event: type[AgentChanged], action: str, values: Mapping[str, Any]) -> None:
    """The record and the fact of a change, with it."""
    outbox.emit(event(workspace_id=agent.workspace_id, agent_id=agent.id, agent_version=agent.current_version))
    record(
        workspace_id=agent.workspace_id,
        action=action,
        resource_kind="agent",
        resource_id=agent.id,
        payload={"name": agent.name, "version": agent.current_version, "changed": sorted(values)},
    )


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    """The values, when each is one that the agent can work with; Invalid points at the first that is not."""
    unknown = sorted(set(values) - {*_OF_AGENT, *_OF_VERSION})
    if unknown:
        raise Invalid(f"An agent has no {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    for name, check in _CHECKS.items():
        if name in values:
            complaint = check(values[name])
            if complaint:
                raise Invalid(complaint, pointer=f"/{name}")
    return values


def _name(value: Any) -> str:
    fine = isinstance(value, str) and 0 < len(value.strip()) <= 200
    return "" if fine else "A name has 1 to 200 characters."


def _choice(kind: type[AgentStatus] | type[Autonomy]) -> Callable[[Any], str]:
    return lambda value: "" if value in kind.values else f"Use one of {', '.join(kind.values)}."


def _provider(value: Any) -> str:
    known = registry.names()
    return "" if value == "" or value in known else f"Use one of {', '.join(known)}, or nothing for the default."


def _text(limit: int) -> Callable[[Any], str]:
    return lambda value: "" if isinstance(value, str) and len(value) <= limit else f"At most {limit} characters."


def _skills(value: Any) -> str:
    fine = (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) <= MAX_SKILLS
        and all(isinstance(skill, str) and len(skill) <= MAX_SKILL for skill in value)
    )
    return "" if fine else f"Skills are at most {MAX_SKILLS} texts of at most {MAX_SKILL} characters."


def _permissions(value: Any) -> str:
    unknown = sorted(set(value) - set(tools.permissions()))
    return f"No tool needs {', '.join(unknown)}. Known are {', '.join(tools.permissions())}." if unknown else ""


def _steps(value: Any) -> str:
    most = settings.RUN_MAX_STEPS
    return "" if isinstance(value, int) and 6 <= value <= most else f"A run needs 6 to {most} steps."


def _cost(value: Any) -> str:
    return "" if isinstance(value, int) and 0 <= value <= 100_000_000 else "A limit of 0 to 100000000 micro-dollars."


_CHECKS: Final[dict[str, Callable[[Any], str]]] = {
    "name": _name,
    "status": _choice(AgentStatus),
    "autonomy": _choice(Autonomy),
    "provider": _provider,
    "model": _text(120),
    "system_prompt": _text(MAX_PROMPT),
    "skills": _skills,
    "permissions": _permissions,
    "max_steps": _steps,
    "max_cost_micros": _cost,
}

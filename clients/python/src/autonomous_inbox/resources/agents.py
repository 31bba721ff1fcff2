"""The resource `/api/v1/agents`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Agent, AgentStatus, Autonomy
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AgentsResource:
    """`client.agents`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        autonomy: Literal["draft", "supervised", "autonomous"] | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        external_id: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        status: Literal["active", "paused"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Agent]:
        """The agents of the workspace, each with its present version. Needs the permission `agent.read`. `GET /api/v1/agents`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/agents",
                query={
                    "autonomy": autonomy,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "external_id": external_id,
                    "limit": limit,
                    "sort": sort,
                    "status": status,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def create(
        self,
        *,
        name: str,
        status: AgentStatus | Unset = UNSET,
        autonomy: Autonomy | Unset = UNSET,
        provider: str | Unset = UNSET,
        model: str | Unset = UNSET,
        system_prompt: str | Unset = UNSET,
        skills: Sequence[str] | Unset = UNSET,
        permissions: Sequence[str] | Unset = UNSET,
        max_steps: int | Unset = UNSET,
        max_cost_micros: int | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        external_id: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Make an agent. It drafts until you give it more autonomy. `POST /api/v1/agents`"""
        return cast(
            "Agent",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/agents",
                    body=given(
                        name=name,
                        status=status,
                        autonomy=autonomy,
                        provider=provider,
                        model=model,
                        system_prompt=system_prompt,
                        skills=skills,
                        permissions=permissions,
                        max_steps=max_steps,
                        max_cost_micros=max_cost_micros,
                        custom_metadata=custom_metadata,
                        external_id=external_id,
                    ),
                    key=idempotency_key,
                )
            ),
        )

    def get(self, agent_id: str) -> Agent:
        """One agent with its present version. Needs the permission `agent.read`. `GET /api/v1/agents/{agent_id}`"""
        return cast("Agent", self._client.send(Call("GET", f"/api/v1/agents/{quote(agent_id, safe='')}")))

    def update(
        self,
        agent_id: str,
        *,
        name: str | Unset = UNSET,
        status: AgentStatus | Unset = UNSET,
        autonomy: Autonomy | Unset = UNSET,
        provider: str | Unset = UNSET,
        model: str | Unset = UNSET,
        system_prompt: str | Unset = UNSET,
        skills: Sequence[str] | Unset = UNSET,
        permissions: Sequence[str] | Unset = UNSET,
        max_steps: int | Unset = UNSET,
        max_cost_micros: int | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Agent:
        """Change an agent. Every change is a new version; what waits for approval belongs to the old one. `PATCH /api/v1/agents/{agent_id}`"""
        return cast(
            "Agent",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/agents/{quote(agent_id, safe='')}",
                    body=given(
                        name=name,
                        status=status,
                        autonomy=autonomy,
                        provider=provider,
                        model=model,
                        system_prompt=system_prompt,
                        skills=skills,
                        permissions=permissions,
                        max_steps=max_steps,
                        max_cost_micros=max_cost_micros,
                        custom_metadata=custom_metadata,
                    ),
                    if_match=if_match,
                )
            ),
        )

    def delete(self, agent_id: str, *, if_match: str | None = None) -> None:
        """Delete an agent. Its runs and versions stay readable. `DELETE /api/v1/agents/{agent_id}`"""
        self._client.send(Call("DELETE", f"/api/v1/agents/{quote(agent_id, safe='')}", if_match=if_match))

    def get_versioned(self, agent_id: str) -> Versioned[Agent]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/agents/{quote(agent_id, safe='')}"))

    def edit(self, agent_id: str, change: Change[Agent], *, tries: int = 5) -> Agent:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/agents/{quote(agent_id, safe='')}"),
            Call("PATCH", f"/api/v1/agents/{quote(agent_id, safe='')}"),
        )
        return cast("Agent", self._client.edit(read, write, change, tries=tries))

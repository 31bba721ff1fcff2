"""The resource `/api/v1/agent-runs`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Run, RunDetail
from autonomous_inbox.wire import Call


class AsyncAgentRunsResource:
    """`client.agent_runs`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        agent_id: str | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        email_id: str | None = None,
        expand: Sequence[Literal["agent", "email"]] | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        status: Literal[
            "queued", "running", "waiting_approval", "waiting_effect", "succeeded", "needs_human", "failed", "stopped"
        ]
        | None = None,
    ) -> AsyncPages[Run]:
        """Runs of agents against mails, newest first. Needs the permission `agent.read`. `GET /api/v1/agent-runs`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/agent-runs",
                query={
                    "agent_id": agent_id,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "email_id": email_id,
                    "expand": expand,
                    "limit": limit,
                    "sort": sort,
                    "status": status,
                },
            ),
        )

    async def get(self, agent_run_id: str, *, expand: Sequence[Literal["agent", "email"]] | None = None) -> RunDetail:
        """One run with its steps, what it wants to do, and the question that waits for a person. Needs the permission `agent.read`. `GET /api/v1/agent-runs/{agent_run_id}`"""
        return cast(
            "RunDetail",
            await self._client.send(
                Call("GET", f"/api/v1/agent-runs/{quote(agent_run_id, safe='')}", query={"expand": expand})
            ),
        )

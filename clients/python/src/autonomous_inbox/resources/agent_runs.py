"""The resource `/api/v1/agent-runs`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Pages, Sender
from autonomous_inbox.types import Run, RunDetail
from autonomous_inbox.wire import Call


class AgentRunsResource:
    """`client.agent_runs`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        agent_id: str | None = None,
        cursor: str | None = None,
        email_id: str | None = None,
        limit: int | None = None,
        status: Literal[
            "failed", "needs_human", "queued", "running", "stopped", "succeeded", "waiting_approval", "waiting_effect"
        ]
        | None = None,
    ) -> Pages[Run]:
        """Read-only: workers make runs. `GET /api/v1/agent-runs`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/agent-runs",
                query={"agent_id": agent_id, "cursor": cursor, "email_id": email_id, "limit": limit, "status": status},
            ),
        )

    def get(self, agent_run_id: str) -> RunDetail:
        """Read-only: workers make runs. `GET /api/v1/agent-runs/{agent_run_id}`"""
        return cast("RunDetail", self._client.send(Call("GET", f"/api/v1/agent-runs/{quote(agent_run_id, safe='')}")))


class AsyncAgentRunsResource:
    """`client.agent_runs`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        agent_id: str | None = None,
        cursor: str | None = None,
        email_id: str | None = None,
        limit: int | None = None,
        status: Literal[
            "failed", "needs_human", "queued", "running", "stopped", "succeeded", "waiting_approval", "waiting_effect"
        ]
        | None = None,
    ) -> AsyncPages[Run]:
        """Read-only: workers make runs. `GET /api/v1/agent-runs`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/agent-runs",
                query={"agent_id": agent_id, "cursor": cursor, "email_id": email_id, "limit": limit, "status": status},
            ),
        )

    async def get(self, agent_run_id: str) -> RunDetail:
        """Read-only: workers make runs. `GET /api/v1/agent-runs/{agent_run_id}`"""
        return cast(
            "RunDetail", await self._client.send(Call("GET", f"/api/v1/agent-runs/{quote(agent_run_id, safe='')}"))
        )

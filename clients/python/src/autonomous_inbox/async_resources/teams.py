"""The resource `/api/v1/teams`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Change
from autonomous_inbox.types import Team
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncTeamsResource:
    """`client.teams`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[Team]:
        """The teams of the workspace. Needs the permission `member.read`. `GET /api/v1/teams`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/teams",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    async def create(
        self,
        *,
        name: str,
        membership_ids: Sequence[str] | Unset = UNSET,
        inbox_ids: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Team:
        """Make a team. Needs the permission `member.manage`. `POST /api/v1/teams`"""
        return cast(
            "Team",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/teams",
                    body=given(name=name, membership_ids=membership_ids, inbox_ids=inbox_ids),
                    key=idempotency_key,
                )
            ),
        )

    async def get(self, team_id: str) -> Team:
        """One team. Needs the permission `member.read`. `GET /api/v1/teams/{team_id}`"""
        return cast("Team", await self._client.send(Call("GET", f"/api/v1/teams/{quote(team_id, safe='')}")))

    async def update(
        self,
        team_id: str,
        *,
        name: str | Unset = UNSET,
        membership_ids: Sequence[str] | Unset = UNSET,
        inbox_ids: Sequence[str] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Team:
        """Change a team, with effect at the next request of its members. Needs the permission `member.manage`. `PATCH /api/v1/teams/{team_id}`"""
        return cast(
            "Team",
            await self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/teams/{quote(team_id, safe='')}",
                    body=given(name=name, membership_ids=membership_ids, inbox_ids=inbox_ids),
                    if_match=if_match,
                )
            ),
        )

    async def delete(self, team_id: str, *, if_match: str | None = None) -> None:
        """Delete a team. Its members and inboxes stay. `DELETE /api/v1/teams/{team_id}`"""
        await self._client.send(Call("DELETE", f"/api/v1/teams/{quote(team_id, safe='')}", if_match=if_match))

    async def get_versioned(self, team_id: str) -> Versioned[Team]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(Call("GET", f"/api/v1/teams/{quote(team_id, safe='')}"))

    async def edit(self, team_id: str, change: Change[Team], *, tries: int = 5) -> Team:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/teams/{quote(team_id, safe='')}"),
            Call("PATCH", f"/api/v1/teams/{quote(team_id, safe='')}"),
        )
        return cast("Team", await self._client.edit(read, write, change, tries=tries))

"""The resource `/api/v1/inboxes`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Change
from autonomous_inbox.types import Inbox, InboxConnection
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncInboxesResource:
    """`client.inboxes`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        active: Literal["true", "false"] | None = None,
        address: str | None = None,
        agent_id: str | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        expand: Sequence[Literal["agent"]] | None = None,
        external_id: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[Inbox]:
        """The inboxes of the workspace, deactivated ones among them. Needs the permission `inbox.read`. `GET /api/v1/inboxes`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/inboxes",
                query={
                    "active": active,
                    "address": address,
                    "agent_id": agent_id,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "external_id": external_id,
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
        address: str,
        name: str | Unset = UNSET,
        external_id: str | Unset = UNSET,
        agent_id: str | Unset | None = UNSET,
        policy: Mapping[str, Any] | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Inbox:
        """Open an inbox on a verified domain of the workspace. Needs the permission `inbox.manage`. `POST /api/v1/inboxes`"""
        return cast(
            "Inbox",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/inboxes",
                    body=given(
                        address=address,
                        name=name,
                        external_id=external_id,
                        agent_id=agent_id,
                        policy=policy,
                        custom_metadata=custom_metadata,
                    ),
                    key=idempotency_key,
                )
            ),
        )

    async def get(self, inbox_id: str, *, expand: Sequence[Literal["agent"]] | None = None) -> Inbox:
        """One inbox. Needs the permission `inbox.read`. `GET /api/v1/inboxes/{inbox_id}`"""
        return cast(
            "Inbox",
            await self._client.send(
                Call("GET", f"/api/v1/inboxes/{quote(inbox_id, safe='')}", query={"expand": expand})
            ),
        )

    async def update(
        self,
        inbox_id: str,
        *,
        name: str | Unset = UNSET,
        agent_id: str | Unset | None = UNSET,
        policy: Mapping[str, Any] | Unset = UNSET,
        active: bool | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Inbox:
        """Change an inbox. `active: false` closes it to mail. `PATCH /api/v1/inboxes/{inbox_id}`"""
        return cast(
            "Inbox",
            await self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/inboxes/{quote(inbox_id, safe='')}",
                    body=given(
                        name=name, agent_id=agent_id, policy=policy, active=active, custom_metadata=custom_metadata
                    ),
                    if_match=if_match,
                )
            ),
        )

    async def connection(self, inbox_id: str, *, connection_id: str | None) -> InboxConnection:
        """Have the inbox send through a connection, or (null) through what the installation is set up with. Needs the permission `inbox.manage`. `PUT /api/v1/inboxes/{inbox_id}/connection`"""
        return cast(
            "InboxConnection",
            await self._client.send(
                Call(
                    "PUT",
                    f"/api/v1/inboxes/{quote(inbox_id, safe='')}/connection",
                    body=given(connection_id=connection_id),
                )
            ),
        )

    async def get_versioned(self, inbox_id: str) -> Versioned[Inbox]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(Call("GET", f"/api/v1/inboxes/{quote(inbox_id, safe='')}"))

    async def edit(self, inbox_id: str, change: Change[Inbox], *, tries: int = 5) -> Inbox:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/inboxes/{quote(inbox_id, safe='')}"),
            Call("PATCH", f"/api/v1/inboxes/{quote(inbox_id, safe='')}"),
        )
        return cast("Inbox", await self._client.edit(read, write, change, tries=tries))

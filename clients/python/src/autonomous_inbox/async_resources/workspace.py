"""The resource `/api/v1/workspace`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping
from typing import Any, cast

from autonomous_inbox.paging import AsyncSender, Change
from autonomous_inbox.types import Workspace
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncWorkspaceResource:
    """`client.workspace`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    async def get(self) -> Workspace:
        """The workspace that the token or key belongs to. Needs the permission `workspace.read`. `GET /api/v1/workspace`"""
        return cast("Workspace", await self._client.send(Call("GET", "/api/v1/workspace")))

    async def update(
        self,
        *,
        name: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Workspace:
        """Change what the workspace says of itself. Its other fields mirror the account that it belongs to. `PATCH /api/v1/workspace`"""
        return cast(
            "Workspace",
            await self._client.send(
                Call(
                    "PATCH",
                    "/api/v1/workspace",
                    body=given(name=name, timezone=timezone, custom_metadata=custom_metadata),
                    if_match=if_match,
                )
            ),
        )

    async def get_versioned(self) -> Versioned[Workspace]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(Call("GET", "/api/v1/workspace"))

    async def edit(self, change: Change[Workspace], *, tries: int = 5) -> Workspace:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = Call("GET", "/api/v1/workspace"), Call("PATCH", "/api/v1/workspace")
        return cast("Workspace", await self._client.edit(read, write, change, tries=tries))

"""The resource `/api/v1/workspace`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import cast

from autonomous_inbox.paging import AsyncSender, Sender
from autonomous_inbox.types import Workspace
from autonomous_inbox.wire import Call


class WorkspaceResource:
    """`client.workspace`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def get(self) -> Workspace:
        """The workspace that the token or key belongs to. Needs the permission `workspace.read`. `GET /api/v1/workspace`"""
        return cast("Workspace", self._client.send(Call("GET", "/api/v1/workspace")))


class AsyncWorkspaceResource:
    """`client.workspace`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    async def get(self) -> Workspace:
        """The workspace that the token or key belongs to. Needs the permission `workspace.read`. `GET /api/v1/workspace`"""
        return cast("Workspace", await self._client.send(Call("GET", "/api/v1/workspace")))

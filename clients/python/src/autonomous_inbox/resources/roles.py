"""The resource `/api/v1/roles`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import Role
from autonomous_inbox.wire import Call


class RolesResource:
    """`client.roles`."""

    def __init__(self, client: Sender) -> None:
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
        name: str | None = None,
        sort: Literal["-created_at", "-name", "created_at", "name"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Role]:
        """The roles of the workspace, newest first. Needs the permission `member.read`. `GET /api/v1/roles`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/roles",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "name": name,
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def get(self, role_id: str) -> Role:
        """One role. Needs the permission `member.read`. `GET /api/v1/roles/{role_id}`"""
        return cast("Role", self._client.send(Call("GET", f"/api/v1/roles/{quote(role_id, safe='')}")))

"""The resource `/api/v1/roles`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Role, RoleLink
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


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
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Role]:
        """The roles of the workspace, those of the system among them. Needs the permission `role.read`. `GET /api/v1/roles`"""
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
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def create(
        self,
        *,
        name: str,
        permissions: Sequence[str],
        description: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Role:
        """Make a role of your own. Needs the permission `role.manage`. `POST /api/v1/roles`"""
        return cast(
            "Role",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/roles",
                    body=given(name=name, permissions=permissions, description=description),
                    key=idempotency_key,
                )
            ),
        )

    def get(self, role_id: str) -> Role:
        """One role, and who holds it. Needs the permission `role.read`. `GET /api/v1/roles/{role_id}`"""
        return cast("Role", self._client.send(Call("GET", f"/api/v1/roles/{quote(role_id, safe='')}")))

    def update(
        self,
        role_id: str,
        *,
        name: str | Unset = UNSET,
        description: str | Unset = UNSET,
        permissions: Sequence[str] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Role:
        """Change name, description or permissions, with effect at the next request of everybody who holds it. Needs the permission `role.manage`. `PATCH /api/v1/roles/{role_id}`"""
        return cast(
            "Role",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/roles/{quote(role_id, safe='')}",
                    body=given(name=name, description=description, permissions=permissions),
                    if_match=if_match,
                )
            ),
        )

    def delete(self, role_id: str, *, if_match: str | None = None) -> None:
        """Delete a role of your own that nobody holds. Needs the permission `role.manage`. `DELETE /api/v1/roles/{role_id}`"""
        self._client.send(Call("DELETE", f"/api/v1/roles/{quote(role_id, safe='')}", if_match=if_match))

    def give(self, role_id: str, *, membership_id: str, idempotency_key: str | None = None) -> RoleLink:
        """Give the role to a member, who has it at their next request. Needs the permission `role.manage`. `POST /api/v1/roles/{role_id}/give`"""
        return cast(
            "RoleLink",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/roles/{quote(role_id, safe='')}/give",
                    body=given(membership_id=membership_id),
                    key=idempotency_key,
                )
            ),
        )

    def take(self, role_id: str, *, membership_id: str, idempotency_key: str | None = None) -> RoleLink:
        """Take the role from a member, who is without it at their next request. The workspace keeps an owner. `POST /api/v1/roles/{role_id}/take`"""
        return cast(
            "RoleLink",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/roles/{quote(role_id, safe='')}/take",
                    body=given(membership_id=membership_id),
                    key=idempotency_key,
                )
            ),
        )

    def get_versioned(self, role_id: str) -> Versioned[Role]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/roles/{quote(role_id, safe='')}"))

    def edit(self, role_id: str, change: Change[Role], *, tries: int = 5) -> Role:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/roles/{quote(role_id, safe='')}"),
            Call("PATCH", f"/api/v1/roles/{quote(role_id, safe='')}"),
        )
        return cast("Role", self._client.edit(read, write, change, tries=tries))

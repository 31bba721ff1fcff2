"""The resource `/api/v1/machine-keys`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Change
from autonomous_inbox.types import MachineKey, MachineKeyWithSecret, RevokedKeys
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncMachineKeysResource:
    """`client.machine_keys`."""

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
        state: Literal["active", "expired", "revoked"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[MachineKey]:
        """The keys of the workspace, newest first. Needs the permission `workspace.manage`. `GET /api/v1/machine-keys`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/machine-keys",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                    "state": state,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[str],
        expires_at: str | Unset | None = UNSET,
        allowed_networks: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> MachineKeyWithSecret:
        """Issue a key. The answer holds its secret, this once. `POST /api/v1/machine-keys`"""
        return cast(
            "MachineKeyWithSecret",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/machine-keys",
                    body=given(name=name, scopes=scopes, expires_at=expires_at, allowed_networks=allowed_networks),
                    key=idempotency_key,
                )
            ),
        )

    async def get(self, machine_key_id: str) -> MachineKey:
        """One key. Needs the permission `workspace.manage`. `GET /api/v1/machine-keys/{machine_key_id}`"""
        return cast(
            "MachineKey", await self._client.send(Call("GET", f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}"))
        )

    async def update(
        self,
        machine_key_id: str,
        *,
        name: str | Unset = UNSET,
        scopes: Sequence[str] | Unset = UNSET,
        expires_at: str | Unset | None = UNSET,
        allowed_networks: Sequence[str] | Unset = UNSET,
        if_match: str | None = None,
    ) -> MachineKey:
        """Change name, scopes, end or networks. Needs the permission `workspace.manage`. `PATCH /api/v1/machine-keys/{machine_key_id}`"""
        return cast(
            "MachineKey",
            await self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}",
                    body=given(name=name, scopes=scopes, expires_at=expires_at, allowed_networks=allowed_networks),
                    if_match=if_match,
                )
            ),
        )

    async def revoke(
        self, machine_key_id: str, *, with_issued: bool | Unset = UNSET, idempotency_key: str | None = None
    ) -> RevokedKeys:
        """End a key for good, with effect at its next request. Needs the permission `workspace.manage`. `POST /api/v1/machine-keys/{machine_key_id}/revoke`"""
        return cast(
            "RevokedKeys",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}/revoke",
                    body=given(with_issued=with_issued),
                    key=idempotency_key,
                )
            ),
        )

    async def rotate(
        self, machine_key_id: str, *, overlap_seconds: int | Unset = UNSET, idempotency_key: str | None = None
    ) -> MachineKeyWithSecret:
        """Give the key a new secret, shown this once. Until `previous_secret_until` both are good. `POST /api/v1/machine-keys/{machine_key_id}/rotate`"""
        return cast(
            "MachineKeyWithSecret",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}/rotate",
                    body=given(overlap_seconds=overlap_seconds),
                    key=idempotency_key,
                )
            ),
        )

    async def get_versioned(self, machine_key_id: str) -> Versioned[MachineKey]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(Call("GET", f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}"))

    async def edit(self, machine_key_id: str, change: Change[MachineKey], *, tries: int = 5) -> MachineKey:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}"),
            Call("PATCH", f"/api/v1/machine-keys/{quote(machine_key_id, safe='')}"),
        )
        return cast("MachineKey", await self._client.edit(read, write, change, tries=tries))

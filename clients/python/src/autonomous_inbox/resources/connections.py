"""The resource `/api/v1/connections`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Connection, Provider
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class ConnectionsResource:
    """`client.connections`."""

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
        external_account_id: str | None = None,
        limit: int | None = None,
        provider: Literal["smtp", "ses"] | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        state: Literal["unconfigured", "pending_authorization", "connected", "degraded", "expired", "disconnected"]
        | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Connection]:
        """The connected accounts of the workspace, disconnected ones among them. Needs the permission `connection.read`. `GET /api/v1/connections`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/connections",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "external_account_id": external_account_id,
                    "limit": limit,
                    "provider": provider,
                    "sort": sort,
                    "state": state,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def create(
        self,
        *,
        provider: Provider,
        configuration: Mapping[str, Any],
        name: str | Unset = UNSET,
        secret: str | Unset = UNSET,
        expires_at: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Connection:
        """Connect an account. With a secret it is tried at once; without one it is unconfigured. `POST /api/v1/connections`"""
        return cast(
            "Connection",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/connections",
                    body=given(
                        provider=provider, configuration=configuration, name=name, secret=secret, expires_at=expires_at
                    ),
                    key=idempotency_key,
                )
            ),
        )

    def get(self, connection_id: str) -> Connection:
        """One connection and how it stands. Needs the permission `connection.read`. `GET /api/v1/connections/{connection_id}`"""
        return cast(
            "Connection", self._client.send(Call("GET", f"/api/v1/connections/{quote(connection_id, safe='')}"))
        )

    def update(
        self,
        connection_id: str,
        *,
        name: str | Unset = UNSET,
        configuration: Mapping[str, Any] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Connection:
        """Change name or configuration. With another configuration it has to be tried anew. `PATCH /api/v1/connections/{connection_id}`"""
        return cast(
            "Connection",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/connections/{quote(connection_id, safe='')}",
                    body=given(name=name, configuration=configuration),
                    if_match=if_match,
                )
            ),
        )

    def credentials(
        self,
        connection_id: str,
        *,
        secret: str,
        expires_at: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Connection:
        """Give the connection a new secret in place of the one it has. It is tried at once. `POST /api/v1/connections/{connection_id}/credentials`"""
        return cast(
            "Connection",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/connections/{quote(connection_id, safe='')}/credentials",
                    body=given(secret=secret, expires_at=expires_at),
                    key=idempotency_key,
                )
            ),
        )

    def disconnect(self, connection_id: str, *, idempotency_key: str | None = None) -> Connection:
        """Send nothing through it any more and destroy its secret. Needs the permission `connection.manage`. `POST /api/v1/connections/{connection_id}/disconnect`"""
        return cast(
            "Connection",
            self._client.send(
                Call("POST", f"/api/v1/connections/{quote(connection_id, safe='')}/disconnect", key=idempotency_key)
            ),
        )

    def test(self, connection_id: str, *, idempotency_key: str | None = None) -> Connection:
        """Try the connection soon: sign in and send nothing. `last_health_at` and `state` then say how it went. `POST /api/v1/connections/{connection_id}/test`"""
        return cast(
            "Connection",
            self._client.send(
                Call("POST", f"/api/v1/connections/{quote(connection_id, safe='')}/test", key=idempotency_key)
            ),
        )

    def get_versioned(self, connection_id: str) -> Versioned[Connection]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/connections/{quote(connection_id, safe='')}"))

    def edit(self, connection_id: str, change: Change[Connection], *, tries: int = 5) -> Connection:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/connections/{quote(connection_id, safe='')}"),
            Call("PATCH", f"/api/v1/connections/{quote(connection_id, safe='')}"),
        )
        return cast("Connection", self._client.edit(read, write, change, tries=tries))

"""The resource `/api/v1/client-certificates`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Certificate
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class ClientCertificatesResource:
    """`client.client_certificates`."""

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
        sort: Literal["-created_at", "-name", "-not_after", "created_at", "name", "not_after"] | None = None,
        state: Literal["active", "expired", "revoked"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Certificate]:
        """The certificates of the workspace, newest first. Needs the permission `workspace.manage`. `GET /api/v1/client-certificates`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/client-certificates",
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

    def create(
        self, *, name: str, certificate: str, scopes: Sequence[str], idempotency_key: str | None = None
    ) -> Certificate:
        """Register a certificate: exactly this one will act for the workspace. Needs the permission `workspace.manage`. `POST /api/v1/client-certificates`"""
        return cast(
            "Certificate",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/client-certificates",
                    body=given(name=name, certificate=certificate, scopes=scopes),
                    key=idempotency_key,
                )
            ),
        )

    def get(self, client_certificate_id: str) -> Certificate:
        """One certificate. Needs the permission `workspace.manage`. `GET /api/v1/client-certificates/{client_certificate_id}`"""
        return cast(
            "Certificate",
            self._client.send(Call("GET", f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}")),
        )

    def update(
        self,
        client_certificate_id: str,
        *,
        name: str | Unset = UNSET,
        scopes: Sequence[str] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Certificate:
        """Change the name or the scopes. Needs the permission `workspace.manage`. `PATCH /api/v1/client-certificates/{client_certificate_id}`"""
        return cast(
            "Certificate",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}",
                    body=given(name=name, scopes=scopes),
                    if_match=if_match,
                )
            ),
        )

    def revoke(
        self, client_certificate_id: str, *, reason: str | Unset = UNSET, idempotency_key: str | None = None
    ) -> Certificate:
        """End a certificate for good, with effect at its next request. Needs the permission `workspace.manage`. `POST /api/v1/client-certificates/{client_certificate_id}/revoke`"""
        return cast(
            "Certificate",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}/revoke",
                    body=given(reason=reason),
                    key=idempotency_key,
                )
            ),
        )

    def get_versioned(self, client_certificate_id: str) -> Versioned[Certificate]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(
            Call("GET", f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}")
        )

    def edit(self, client_certificate_id: str, change: Change[Certificate], *, tries: int = 5) -> Certificate:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}"),
            Call("PATCH", f"/api/v1/client-certificates/{quote(client_certificate_id, safe='')}"),
        )
        return cast("Certificate", self._client.edit(read, write, change, tries=tries))

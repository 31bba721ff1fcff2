"""The resource `/api/v1/revoked-client-certificates`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import Denial
from autonomous_inbox.wire import UNSET, Call, Unset, given


class RevokedClientCertificatesResource:
    """`client.revoked_client_certificates`."""

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
        serial: str | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
    ) -> Pages[Denial]:
        """What the workspace refuses, newest first. Needs the permission `workspace.manage`. `GET /api/v1/revoked-client-certificates`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/revoked-client-certificates",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "serial": serial,
                    "sort": sort,
                },
            ),
        )

    def create(
        self,
        *,
        certificate: str | Unset = UNSET,
        fingerprint: str | Unset = UNSET,
        serial: str | Unset = UNSET,
        issuer: str | Unset = UNSET,
        reason: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Denial:
        """Refuse a certificate from now on. Asked again, the same denial is the answer. `POST /api/v1/revoked-client-certificates`"""
        return cast(
            "Denial",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/revoked-client-certificates",
                    body=given(
                        certificate=certificate, fingerprint=fingerprint, serial=serial, issuer=issuer, reason=reason
                    ),
                    key=idempotency_key,
                )
            ),
        )

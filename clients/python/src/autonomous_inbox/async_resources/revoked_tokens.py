"""The resource `/api/v1/revoked-tokens`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Cutoff, RevokedToken
from autonomous_inbox.wire import UNSET, Call, Unset, given


class AsyncRevokedTokensResource:
    """`client.revoked_tokens`."""

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
        jti: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
    ) -> AsyncPages[RevokedToken]:
        """Revoked tokens, newest first. Needs the permission `workspace.manage`. `GET /api/v1/revoked-tokens`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/revoked-tokens",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "jti": jti,
                    "limit": limit,
                    "sort": sort,
                },
            ),
        )

    async def create(self, *, jti: str, idempotency_key: str | None = None) -> RevokedToken:
        """Refuse one token, with effect at its next request. Needs the permission `workspace.manage`. `POST /api/v1/revoked-tokens`"""
        return cast(
            "RevokedToken",
            await self._client.send(Call("POST", "/api/v1/revoked-tokens", body=given(jti=jti), key=idempotency_key)),
        )

    async def issued_before(self, *, issued_before: str | Unset = UNSET, idempotency_key: str | None = None) -> Cutoff:
        """Refuse every token of the workspace that was issued before a time, the one of this request included. Needs the permission `workspace.manage`. `POST /api/v1/revoked-tokens/issued-before`"""
        return cast(
            "Cutoff",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/revoked-tokens/issued-before",
                    body=given(issued_before=issued_before),
                    key=idempotency_key,
                )
            ),
        )

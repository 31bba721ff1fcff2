"""The resource `/api/v1/approvals`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Pages, Sender
from autonomous_inbox.types import Approval
from autonomous_inbox.wire import UNSET, Call, Unset, given


class ApprovalsResource:
    """`client.approvals`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        state: Literal["approved", "consumed", "expired", "pending", "rejected", "withdrawn"] | None = None,
    ) -> Pages[Approval]:
        """`GET /api/v1/approvals`"""
        return Pages(
            self._client, Call("GET", "/api/v1/approvals", query={"cursor": cursor, "limit": limit, "state": state})
        )

    def get(self, approval_id: str) -> Approval:
        """`GET /api/v1/approvals/{approval_id}`"""
        return cast("Approval", self._client.send(Call("GET", f"/api/v1/approvals/{quote(approval_id, safe='')}")))

    def approve(
        self,
        approval_id: str,
        *,
        text: str | Unset = UNSET,
        comment: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Approval:
        """Allow exactly this content once, or give `text` to have that sent in its place. `POST /api/v1/approvals/{approval_id}/approve`"""
        return cast(
            "Approval",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/approvals/{quote(approval_id, safe='')}/approve",
                    body=given(text=text, comment=comment),
                    key=idempotency_key,
                )
            ),
        )

    def reject(self, approval_id: str, *, comment: str | Unset = UNSET, idempotency_key: str | None = None) -> Approval:
        """Refuse it. Nothing is sent, and a person answers the mail. `POST /api/v1/approvals/{approval_id}/reject`"""
        return cast(
            "Approval",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/approvals/{quote(approval_id, safe='')}/reject",
                    body=given(comment=comment),
                    key=idempotency_key,
                )
            ),
        )


class AsyncApprovalsResource:
    """`client.approvals`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        state: Literal["approved", "consumed", "expired", "pending", "rejected", "withdrawn"] | None = None,
    ) -> AsyncPages[Approval]:
        """`GET /api/v1/approvals`"""
        return AsyncPages(
            self._client, Call("GET", "/api/v1/approvals", query={"cursor": cursor, "limit": limit, "state": state})
        )

    async def get(self, approval_id: str) -> Approval:
        """`GET /api/v1/approvals/{approval_id}`"""
        return cast(
            "Approval", await self._client.send(Call("GET", f"/api/v1/approvals/{quote(approval_id, safe='')}"))
        )

    async def approve(
        self,
        approval_id: str,
        *,
        text: str | Unset = UNSET,
        comment: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Approval:
        """Allow exactly this content once, or give `text` to have that sent in its place. `POST /api/v1/approvals/{approval_id}/approve`"""
        return cast(
            "Approval",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/approvals/{quote(approval_id, safe='')}/approve",
                    body=given(text=text, comment=comment),
                    key=idempotency_key,
                )
            ),
        )

    async def reject(
        self, approval_id: str, *, comment: str | Unset = UNSET, idempotency_key: str | None = None
    ) -> Approval:
        """Refuse it. Nothing is sent, and a person answers the mail. `POST /api/v1/approvals/{approval_id}/reject`"""
        return cast(
            "Approval",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/approvals/{quote(approval_id, safe='')}/reject",
                    body=given(comment=comment),
                    key=idempotency_key,
                )
            ),
        )

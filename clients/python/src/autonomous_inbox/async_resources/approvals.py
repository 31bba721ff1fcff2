"""The resource `/api/v1/approvals`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Approval
from autonomous_inbox.wire import UNSET, Call, Unset, given


class AsyncApprovalsResource:
    """`client.approvals`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        agent_run_id: str | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        expand: Sequence[Literal["agent_run", "email"]] | None = None,
        limit: int | None = None,
        risk: Literal["low", "medium", "high"] | None = None,
        sort: Literal["-created_at", "-expires_at", "created_at", "expires_at"] | None = None,
        state: Literal["pending", "approved", "rejected", "expired", "withdrawn", "consumed"] | None = None,
    ) -> AsyncPages[Approval]:
        """What agents have asked people, newest first. Needs the permission `approval.read`. `GET /api/v1/approvals`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/approvals",
                query={
                    "agent_run_id": agent_run_id,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "limit": limit,
                    "risk": risk,
                    "sort": sort,
                    "state": state,
                },
            ),
        )

    async def get(self, approval_id: str, *, expand: Sequence[Literal["agent_run", "email"]] | None = None) -> Approval:
        """One question: exactly what is asked for, and what became of it. Needs the permission `approval.read`. `GET /api/v1/approvals/{approval_id}`"""
        return cast(
            "Approval",
            await self._client.send(
                Call("GET", f"/api/v1/approvals/{quote(approval_id, safe='')}", query={"expand": expand})
            ),
        )

    async def approve(
        self,
        approval_id: str,
        *,
        text: str | Unset = UNSET,
        comment: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Approval:
        """Allow exactly this content once, or give `text` to have that sent in its place. Needs the permission `approval.decide`. `POST /api/v1/approvals/{approval_id}/approve`"""
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

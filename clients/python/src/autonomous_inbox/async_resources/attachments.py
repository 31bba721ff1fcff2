"""The resource `/api/v1/attachments`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Attachment
from autonomous_inbox.wire import Call


class AsyncAttachmentsResource:
    """`client.attachments`."""

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
        email_id: str | None = None,
        entry_id: str | None = None,
        expand: Sequence[Literal["email"]] | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
    ) -> AsyncPages[Attachment]:
        """What came with mail, newest first. Needs the permission `thread.read`. `GET /api/v1/attachments`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/attachments",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "email_id": email_id,
                    "entry_id": entry_id,
                    "expand": expand,
                    "limit": limit,
                    "sort": sort,
                },
            ),
        )

    async def get(self, attachment_id: str, *, expand: Sequence[Literal["email"]] | None = None) -> Attachment:
        """What is known of an attachment. Its bytes are at `/content`. `GET /api/v1/attachments/{attachment_id}`"""
        return cast(
            "Attachment",
            await self._client.send(
                Call("GET", f"/api/v1/attachments/{quote(attachment_id, safe='')}", query={"expand": expand})
            ),
        )

    async def content(self, attachment_id: str) -> bytes:
        """The bytes, always as a download. Needs the permission `thread.read`. `GET /api/v1/attachments/{attachment_id}/content`"""
        return (
            await self._client.exchange(
                Call(
                    "GET",
                    f"/api/v1/attachments/{quote(attachment_id, safe='')}/content",
                    accept="application/octet-stream",
                )
            )
        ).content

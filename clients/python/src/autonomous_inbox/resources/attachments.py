"""The resource `/api/v1/attachments`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncSender, Sender
from autonomous_inbox.types import Attachment
from autonomous_inbox.wire import Call


class AttachmentsResource:
    """`client.attachments`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def get(self, attachment_id: str, *, expand: Sequence[Literal["email"]] | None = None) -> Attachment:
        """What is known of an attachment. Its bytes are at `/content`. `GET /api/v1/attachments/{attachment_id}`"""
        return cast(
            "Attachment",
            self._client.send(
                Call("GET", f"/api/v1/attachments/{quote(attachment_id, safe='')}", query={"expand": expand})
            ),
        )

    def content(self, attachment_id: str) -> bytes:
        """The bytes, always as a download. Needs the permission `thread.read`. `GET /api/v1/attachments/{attachment_id}/content`"""
        return (
            self._client.exchange(
                Call(
                    "GET",
                    f"/api/v1/attachments/{quote(attachment_id, safe='')}/content",
                    accept="application/octet-stream",
                )
            )
        ).content


class AsyncAttachmentsResource:
    """`client.attachments`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

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

"""The resource `/api/v1/replies`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncSender
from autonomous_inbox.types import Reply
from autonomous_inbox.wire import Call, given


class AsyncRepliesResource:
    """`client.replies`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    async def create(self, *, email_id: str, text: str, idempotency_key: str | None = None) -> Reply:
        """Answer a mail, as far as the autonomy of the inbox's agent and its rules let it: the `status` of the answer is `sending`, `waiting_approval` (a person decides) or `refused`. Needs the permission `email.send`. `POST /api/v1/replies`"""
        return cast(
            "Reply",
            await self._client.send(
                Call("POST", "/api/v1/replies", body=given(email_id=email_id, text=text), key=idempotency_key)
            ),
        )

    async def draft(self, *, email_id: str, text: str, idempotency_key: str | None = None) -> Reply:
        """Write the answer for a person, who approves, edits or rejects it. Nothing is sent before that. `POST /api/v1/replies/draft`"""
        return cast(
            "Reply",
            await self._client.send(
                Call("POST", "/api/v1/replies/draft", body=given(email_id=email_id, text=text), key=idempotency_key)
            ),
        )

    async def get(self, reply_id: str, *, expand: Sequence[Literal["agent_run", "email"]] | None = None) -> Reply:
        """What became of a reply. Needs the permission `email.read`. `GET /api/v1/replies/{reply_id}`"""
        return cast(
            "Reply",
            await self._client.send(
                Call("GET", f"/api/v1/replies/{quote(reply_id, safe='')}", query={"expand": expand})
            ),
        )

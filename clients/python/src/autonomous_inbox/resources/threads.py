"""The resource `/api/v1/threads`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Pages, Sender
from autonomous_inbox.types import Entry, Thread
from autonomous_inbox.wire import Call


class ThreadsResource:
    """`client.threads`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        inbox_id: str | None = None,
        limit: int | None = None,
        status: str | None = None,
    ) -> Pages[Thread]:
        """`GET /api/v1/threads`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/threads",
                query={"cursor": cursor, "inbox_id": inbox_id, "limit": limit, "status": status},
            ),
        )

    def get(self, thread_id: str) -> Thread:
        """`GET /api/v1/threads/{thread_id}`"""
        return cast("Thread", self._client.send(Call("GET", f"/api/v1/threads/{quote(thread_id, safe='')}")))

    def entries(self, thread_id: str, *, cursor: str | None = None, limit: int | None = None) -> Pages[Entry]:
        """The conversation, newest entry first. `GET /api/v1/threads/{thread_id}/entries`"""
        return Pages(
            self._client,
            Call(
                "GET", f"/api/v1/threads/{quote(thread_id, safe='')}/entries", query={"cursor": cursor, "limit": limit}
            ),
        )


class AsyncThreadsResource:
    """`client.threads`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        inbox_id: str | None = None,
        limit: int | None = None,
        status: str | None = None,
    ) -> AsyncPages[Thread]:
        """`GET /api/v1/threads`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/threads",
                query={"cursor": cursor, "inbox_id": inbox_id, "limit": limit, "status": status},
            ),
        )

    async def get(self, thread_id: str) -> Thread:
        """`GET /api/v1/threads/{thread_id}`"""
        return cast("Thread", await self._client.send(Call("GET", f"/api/v1/threads/{quote(thread_id, safe='')}")))

    def entries(self, thread_id: str, *, cursor: str | None = None, limit: int | None = None) -> AsyncPages[Entry]:
        """The conversation, newest entry first. `GET /api/v1/threads/{thread_id}/entries`"""
        return AsyncPages(
            self._client,
            Call(
                "GET", f"/api/v1/threads/{quote(thread_id, safe='')}/entries", query={"cursor": cursor, "limit": limit}
            ),
        )

"""The resource `/api/v1/thread-changes`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import ThreadChange
from autonomous_inbox.wire import Call


class AsyncThreadChangesResource:
    """`client.thread_changes`."""

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
        kind: Literal["merge", "split", "move"] | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        source_thread_id: str | None = None,
        target_thread_id: str | None = None,
    ) -> AsyncPages[ThreadChange]:
        """What people did to conversations, newest first. Needs the permission `thread.read`. `GET /api/v1/thread-changes`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/thread-changes",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "kind": kind,
                    "limit": limit,
                    "sort": sort,
                    "source_thread_id": source_thread_id,
                    "target_thread_id": target_thread_id,
                },
            ),
        )

    async def get(self, thread_change_id: str) -> ThreadChange:
        """One merge, split or move. Needs the permission `thread.read`. `GET /api/v1/thread-changes/{thread_change_id}`"""
        return cast(
            "ThreadChange",
            await self._client.send(Call("GET", f"/api/v1/thread-changes/{quote(thread_change_id, safe='')}")),
        )

    async def undo(self, thread_change_id: str, *, idempotency_key: str | None = None) -> ThreadChange:
        """Put the entries back. Mail that came since goes with what it answers. `POST /api/v1/thread-changes/{thread_change_id}/undo`"""
        return cast(
            "ThreadChange",
            await self._client.send(
                Call("POST", f"/api/v1/thread-changes/{quote(thread_change_id, safe='')}/undo", key=idempotency_key)
            ),
        )

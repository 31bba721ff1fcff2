"""The resource `/api/v1/threads`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import Entry, Thread, ThreadChange
from autonomous_inbox.wire import UNSET, Call, Unset, given


class ThreadsResource:
    """`client.threads`."""

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
        expand: Sequence[Literal["inbox"]] | None = None,
        inbox_id: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-last_entry_seq", "created_at", "last_entry_seq"] | None = None,
        status: Literal["open", "snoozed", "closed", "spam"] | None = None,
    ) -> Pages[Thread]:
        """Conversations, the one that has last got something first. Needs the permission `thread.read`. `GET /api/v1/threads`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/threads",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "inbox_id": inbox_id,
                    "limit": limit,
                    "sort": sort,
                    "status": status,
                },
            ),
        )

    def get(self, thread_id: str, *, expand: Sequence[Literal["inbox"]] | None = None) -> Thread:
        """One conversation, without its entries. Needs the permission `thread.read`. `GET /api/v1/threads/{thread_id}`"""
        return cast(
            "Thread",
            self._client.send(Call("GET", f"/api/v1/threads/{quote(thread_id, safe='')}", query={"expand": expand})),
        )

    def entries(
        self,
        thread_id: str,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        direction: Literal["inbound", "outbound", "internal"] | None = None,
        limit: int | None = None,
        sort: Literal["-seq", "seq"] | None = None,
    ) -> Pages[Entry]:
        """The conversation, newest entry first. Needs the permission `thread.read`. `GET /api/v1/threads/{thread_id}/entries`"""
        return Pages(
            self._client,
            Call(
                "GET",
                f"/api/v1/threads/{quote(thread_id, safe='')}/entries",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "direction": direction,
                    "limit": limit,
                    "sort": sort,
                },
            ),
        )

    def merge(self, thread_id: str, *, into: str, idempotency_key: str | None = None) -> ThreadChange:
        """Put all entries into another thread. Later mail to this one lands there too. Can be undone. `POST /api/v1/threads/{thread_id}/merge`"""
        return cast(
            "ThreadChange",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/threads/{quote(thread_id, safe='')}/merge",
                    body=given(into=into),
                    key=idempotency_key,
                )
            ),
        )

    def move(
        self, thread_id: str, *, into: str, entry_ids: Sequence[str], idempotency_key: str | None = None
    ) -> ThreadChange:
        """Put some entries into another thread. Can be undone. `POST /api/v1/threads/{thread_id}/move`"""
        return cast(
            "ThreadChange",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/threads/{quote(thread_id, safe='')}/move",
                    body=given(into=into, entry_ids=entry_ids),
                    key=idempotency_key,
                )
            ),
        )

    def split(
        self,
        thread_id: str,
        *,
        entry_ids: Sequence[str] | Unset = UNSET,
        from_entry: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> ThreadChange:
        """Put chosen entries, or those from one on, into a new thread. Can be undone. `POST /api/v1/threads/{thread_id}/split`"""
        return cast(
            "ThreadChange",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/threads/{quote(thread_id, safe='')}/split",
                    body=given(entry_ids=entry_ids, from_entry=from_entry),
                    key=idempotency_key,
                )
            ),
        )

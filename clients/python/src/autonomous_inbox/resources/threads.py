"""The resource `/api/v1/threads`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Entry, Note, Tag, Thread, ThreadChange, ThreadTags, ThreadUpdateStatus
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


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

    def update(
        self,
        thread_id: str,
        *,
        status: ThreadUpdateStatus | Unset = UNSET,
        snoozed_until: str | Unset = UNSET,
        assignee_id: str | Unset | None = UNSET,
        if_match: str | None = None,
    ) -> Thread:
        """Assign a conversation, close or open it, call it spam, or let it rest until a time. Needs the permission `thread.manage`. `PATCH /api/v1/threads/{thread_id}`"""
        return cast(
            "Thread",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/threads/{quote(thread_id, safe='')}",
                    body=given(status=status, snoozed_until=snoozed_until, assignee_id=assignee_id),
                    if_match=if_match,
                )
            ),
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

    def notes(
        self,
        thread_id: str,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: Literal["-seq", "seq"] | None = None,
    ) -> Pages[Note]:
        """The internal notes of a conversation, newest first. No customer ever sees one. `GET /api/v1/threads/{thread_id}/notes`"""
        return Pages(
            self._client,
            Call(
                "GET",
                f"/api/v1/threads/{quote(thread_id, safe='')}/notes",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                },
            ),
        )

    def write_note(
        self,
        thread_id: str,
        *,
        text: str,
        entry_id: str | Unset | None = UNSET,
        mentions: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Note:
        """Write an internal note. Needs the permission `thread.manage`. `POST /api/v1/threads/{thread_id}/notes`"""
        return cast(
            "Note",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/threads/{quote(thread_id, safe='')}/notes",
                    body=given(text=text, entry_id=entry_id, mentions=mentions),
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

    def tags(
        self,
        thread_id: str,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "created_at", "name"] | None = None,
    ) -> Pages[Tag]:
        """The labels of a conversation. Needs the permission `thread.read`. `GET /api/v1/threads/{thread_id}/tags`"""
        return Pages(
            self._client,
            Call(
                "GET",
                f"/api/v1/threads/{quote(thread_id, safe='')}/tags",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                },
            ),
        )

    def set_tags(self, thread_id: str, *, tag_ids: Sequence[str], idempotency_key: str | None = None) -> ThreadTags:
        """Say which labels a conversation bears; those that are not named are taken off. Needs the permission `thread.manage`. `POST /api/v1/threads/{thread_id}/tags`"""
        return cast(
            "ThreadTags",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/threads/{quote(thread_id, safe='')}/tags",
                    body=given(tag_ids=tag_ids),
                    key=idempotency_key,
                )
            ),
        )

    def get_versioned(self, thread_id: str) -> Versioned[Thread]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/threads/{quote(thread_id, safe='')}"))

    def edit(self, thread_id: str, change: Change[Thread], *, tries: int = 5) -> Thread:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/threads/{quote(thread_id, safe='')}"),
            Call("PATCH", f"/api/v1/threads/{quote(thread_id, safe='')}"),
        )
        return cast("Thread", self._client.edit(read, write, change, tries=tries))

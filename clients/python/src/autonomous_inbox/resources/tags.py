"""The resource `/api/v1/tags`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Color, Tag
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class TagsResource:
    """`client.tags`."""

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
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Tag]:
        """The labels of the workspace. Needs the permission `thread.read`. `GET /api/v1/tags`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/tags",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def create(self, *, name: str, color: Color | Unset = UNSET, idempotency_key: str | None = None) -> Tag:
        """Make a label. Needs the permission `view.manage`. `POST /api/v1/tags`"""
        return cast(
            "Tag",
            self._client.send(Call("POST", "/api/v1/tags", body=given(name=name, color=color), key=idempotency_key)),
        )

    def get(self, tag_id: str) -> Tag:
        """One label. Needs the permission `thread.read`. `GET /api/v1/tags/{tag_id}`"""
        return cast("Tag", self._client.send(Call("GET", f"/api/v1/tags/{quote(tag_id, safe='')}")))

    def update(
        self, tag_id: str, *, name: str | Unset = UNSET, color: Color | Unset = UNSET, if_match: str | None = None
    ) -> Tag:
        """Rename or recolour a label, wherever it is used. Needs the permission `view.manage`. `PATCH /api/v1/tags/{tag_id}`"""
        return cast(
            "Tag",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/tags/{quote(tag_id, safe='')}",
                    body=given(name=name, color=color),
                    if_match=if_match,
                )
            ),
        )

    def delete(self, tag_id: str, *, if_match: str | None = None) -> None:
        """Delete a label, from every conversation, too. Needs the permission `view.manage`. `DELETE /api/v1/tags/{tag_id}`"""
        self._client.send(Call("DELETE", f"/api/v1/tags/{quote(tag_id, safe='')}", if_match=if_match))

    def get_versioned(self, tag_id: str) -> Versioned[Tag]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/tags/{quote(tag_id, safe='')}"))

    def edit(self, tag_id: str, change: Change[Tag], *, tries: int = 5) -> Tag:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/tags/{quote(tag_id, safe='')}"),
            Call("PATCH", f"/api/v1/tags/{quote(tag_id, safe='')}"),
        )
        return cast("Tag", self._client.edit(read, write, change, tries=tries))

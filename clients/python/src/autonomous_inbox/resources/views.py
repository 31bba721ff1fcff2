"""The resource `/api/v1/views`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import ListedThread, Sort, View
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class ViewsResource:
    """`client.views`."""

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
    ) -> Pages[View]:
        """The views of the workspace, with how many conversations are in each. Needs the permission `thread.read`. `GET /api/v1/views`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/views",
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

    def create(
        self, *, name: str, filter: Mapping[str, Any], sort: Sort | Unset = UNSET, idempotency_key: str | None = None
    ) -> View:
        """Save a view for everybody. Needs the permission `view.manage`. `POST /api/v1/views`"""
        return cast(
            "View",
            self._client.send(
                Call("POST", "/api/v1/views", body=given(name=name, filter=filter, sort=sort), key=idempotency_key)
            ),
        )

    def get(self, view_id: str) -> View:
        """One view. Needs the permission `thread.read`. `GET /api/v1/views/{view_id}`"""
        return cast("View", self._client.send(Call("GET", f"/api/v1/views/{quote(view_id, safe='')}")))

    def update(
        self,
        view_id: str,
        *,
        name: str | Unset = UNSET,
        filter: Mapping[str, Any] | Unset = UNSET,
        sort: Sort | Unset = UNSET,
        if_match: str | None = None,
    ) -> View:
        """Change a view. Needs the permission `view.manage`. `PATCH /api/v1/views/{view_id}`"""
        return cast(
            "View",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/views/{quote(view_id, safe='')}",
                    body=given(name=name, filter=filter, sort=sort),
                    if_match=if_match,
                )
            ),
        )

    def delete(self, view_id: str, *, if_match: str | None = None) -> None:
        """Delete a view. The conversations stay. `DELETE /api/v1/views/{view_id}`"""
        self._client.send(Call("DELETE", f"/api/v1/views/{quote(view_id, safe='')}", if_match=if_match))

    def threads(
        self,
        view_id: str,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-last_entry_seq", "created_at", "last_entry_seq"] | None = None,
    ) -> Pages[ListedThread]:
        """The conversations of a view, the one that has last got something first. Needs the permission `thread.read`. `GET /api/v1/views/{view_id}/threads`"""
        return Pages(
            self._client,
            Call(
                "GET",
                f"/api/v1/views/{quote(view_id, safe='')}/threads",
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

    def get_versioned(self, view_id: str) -> Versioned[View]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/views/{quote(view_id, safe='')}"))

    def edit(self, view_id: str, change: Change[View], *, tries: int = 5) -> View:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/views/{quote(view_id, safe='')}"),
            Call("PATCH", f"/api/v1/views/{quote(view_id, safe='')}"),
        )
        return cast("View", self._client.edit(read, write, change, tries=tries))

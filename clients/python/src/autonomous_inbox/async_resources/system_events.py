"""The resource `/api/v1/system-events`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Event
from autonomous_inbox.wire import Call


class AsyncSystemEventsResource:
    """`client.system_events`."""

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
        limit: int | None = None,
        slug: str | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
    ) -> AsyncPages[Event]:
        """Events, newest first. Needs the permission `event.read`. `GET /api/v1/system-events`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/system-events",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "slug": slug,
                    "sort": sort,
                },
            ),
        )

    async def get(self, system_event_id: str) -> Event:
        """One event. Needs the permission `event.read`. `GET /api/v1/system-events/{system_event_id}`"""
        return cast(
            "Event", await self._client.send(Call("GET", f"/api/v1/system-events/{quote(system_event_id, safe='')}"))
        )

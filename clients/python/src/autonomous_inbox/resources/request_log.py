"""The resource `/api/v1/request-log`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import Request
from autonomous_inbox.wire import Call


class RequestLogResource:
    """`client.request_log`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        code: str | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        method: str | None = None,
        path: str | None = None,
        request_id: str | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        status: int | None = None,
        status__gte: int | None = None,
    ) -> Pages[Request]:
        """The requests of this workspace and how they were answered, newest first. They appear after about a second. `GET /api/v1/request-log`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/request-log",
                query={
                    "code": code,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "method": method,
                    "path": path,
                    "request_id": request_id,
                    "sort": sort,
                    "status": status,
                    "status__gte": status__gte,
                },
            ),
        )

"""The resource `/api/v1/audit-anchors`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import AuditAnchor
from autonomous_inbox.wire import Call


class AuditAnchorsResource:
    """`client.audit_anchors`."""

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
        sort: Literal["-sequence", "sequence"] | None = None,
    ) -> Pages[AuditAnchor]:
        """Heads of the chain that were written down outside of the database, newest first. Needs the permission `audit.read`. `GET /api/v1/audit-anchors`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/audit-anchors",
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

"""What `views` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Sort = Literal["newest", "waiting"]


class ListedThread(TypedDict):
    """A conversation as a view lists it; the same fields as in `GET /threads`."""

    object: str
    id: str
    created_at: str
    updated_at: str
    inbox_id: str
    subject: str
    status: str
    snoozed_until: str | None
    assignee_id: str | None
    first_unanswered_inbound_at: str | None
    last_entry_at: str
    entry_count: int
    preview: str


class View(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    filter: Mapping[str, Any]
    sort: Sort
    threads: int

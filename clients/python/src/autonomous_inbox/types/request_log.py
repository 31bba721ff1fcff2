"""What `request_log` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Request(TypedDict):
    """A request and its answer in short; bodies, queries and secrets are not kept."""

    object: str
    id: str
    created_at: str
    request_id: str
    method: str
    path: str
    status: int
    code: str
    caller: str
    duration_ms: int

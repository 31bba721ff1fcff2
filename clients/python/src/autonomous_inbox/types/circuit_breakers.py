"""What `circuit_breakers` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import Literal, TypedDict

Scope = Literal["thread", "sender", "inbox", "workspace", "hops"]


class CircuitBreaker(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    inbox_id: str
    scope: Scope
    key: str
    opened_at: str
    open_until: str
    held: int
    last_held_at: str
    closed_at: str | None
    closed_by: str

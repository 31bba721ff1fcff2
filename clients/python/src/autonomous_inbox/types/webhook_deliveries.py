"""What `webhook_deliveries` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from autonomous_inbox.types.shared import DeliveryStatus


class Attempt(TypedDict):
    object: str
    number: int
    at: str
    duration_ms: int
    status_code: int | None
    error: str


class DeliveryDetail(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    webhook_id: str
    system_event_id: str
    slug: str
    replay_no: int
    status: DeliveryStatus
    attempts: int
    next_attempt_at: str | None
    last_status_code: int | None
    last_error: str
    delivered_at: str | None
    attempt_log: Sequence[Attempt]

"""What `connections` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

ConnectionState = Literal["unconfigured", "pending_authorization", "connected", "degraded", "expired", "disconnected"]

Provider = Literal["smtp", "ses"]


class Connection(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    provider: Provider
    name: str
    external_account_id: str
    configuration: Mapping[str, Any]
    state: ConnectionState
    has_secret: bool
    capabilities: Mapping[str, Any]
    last_health_at: str | None
    error_code: str
    error_detail: str

"""What `event_types` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class EventType(TypedDict):
    object: str
    slug: str
    version: int
    description: str
    schema: Mapping[str, Any]

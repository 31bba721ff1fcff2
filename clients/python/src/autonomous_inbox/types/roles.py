"""What `roles` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Role(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    description: str
    is_system: bool
    permissions: Sequence[str]
    membership_ids: Sequence[str]


class RoleLink(TypedDict):
    object: str
    role_id: str
    membership_id: str

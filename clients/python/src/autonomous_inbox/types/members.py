"""What `members` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from autonomous_inbox.types.shared import RoleName

MemberStatus = Literal["active", "suspended"]


class Member(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    user_id: str
    email: str
    name: str
    status: MemberStatus
    roles: Sequence[RoleName]
    invited_by: str
    accepted_at: str | None
    suspended_at: str | None

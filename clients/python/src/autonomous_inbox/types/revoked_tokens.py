"""What `revoked_tokens` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Cutoff(TypedDict):
    object: str
    issued_before: str


class RevokedToken(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    jti: str
    expires_at: str

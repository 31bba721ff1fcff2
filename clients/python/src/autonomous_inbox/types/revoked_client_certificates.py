"""What `revoked_client_certificates` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Denial(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    fingerprint: str
    serial: str
    issuer: str
    reason: str

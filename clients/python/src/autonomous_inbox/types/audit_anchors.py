"""What `audit_anchors` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class AuditAnchor(TypedDict):
    """A head of the chain that was written down outside of the database, too: keep a copy of your own."""

    object: str
    created_at: str
    sequence: int
    hash: str

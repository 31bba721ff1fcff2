"""What `client_certificates` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from autonomous_inbox.types.shared import CredentialState, Issuer


class Certificate(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    state: CredentialState
    scopes: Sequence[str]
    fingerprint: str
    serial: str
    issuer: str
    subject: str
    not_before: str
    not_after: str
    revoked_at: str | None
    last_used_at: str | None
    issued_by: Issuer

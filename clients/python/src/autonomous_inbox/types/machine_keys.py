"""What `machine_keys` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from autonomous_inbox.types.shared import CredentialState, Issuer


class MachineKey(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    prefix: str
    state: CredentialState
    scopes: Sequence[str]
    allowed_networks: Sequence[str]
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    previous_secret_until: str | None
    issued_by: Issuer


class MachineKeyWithSecret(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    prefix: str
    state: CredentialState
    scopes: Sequence[str]
    allowed_networks: Sequence[str]
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    previous_secret_until: str | None
    issued_by: Issuer
    secret: str


class RevokedKeys(TypedDict):
    object: str
    revoked: Sequence[str]

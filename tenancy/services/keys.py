"""Machine keys: issue, revoke."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from audit.services import record
from kernel import clock
from kernel.access import catalogue
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy.models import MachineKey

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def issue(
    *, workspace_id: UUID, name: str, scopes: Sequence[str], expires_at: datetime | None = None
) -> tuple[MachineKey, str]:
    """A new key and its secret text, which is shown now and never again."""
    known = catalogue()
    families = {f"{permission.partition('.')[0]}.*" for permission in known}
    unknown = [scope for scope in scopes if scope != "*" and scope not in known and scope not in families]
    if unknown:
        raise Invalid(f"Unknown permissions: {', '.join(unknown)}. Known are {', '.join(known)}.", pointer="/scopes")
    prefix = "".join(secrets.choice(ALPHABET) for _ in range(12))
    secret = secrets.token_urlsafe(32)
    with in_workspace(workspace_id):
        key = MachineKey.objects.create(
            workspace_id=workspace_id,
            name=name,
            prefix=prefix,
            secret_hash=hashlib.sha256(secret.encode()).digest(),
            scopes=list(scopes),
            expires_at=expires_at,
        )
        record(
            workspace_id=workspace_id,
            action="machine_key.issue",
            resource_kind="machine_key",
            resource_id=key.id,
            payload={"name": name, "scopes": list(scopes)},
        )
    return key, f"mk_{prefix}_{secret}"


def revoke(*, workspace_id: UUID, key_id: UUID) -> None:
    """End a key; it is refused from the next request on, in every process."""
    with in_workspace(workspace_id):
        if not MachineKey.objects.filter(id=key_id, revoked_at=None).update(revoked_at=clock.now()):
            raise NotFound("No active key of this workspace has that id.")
        record(workspace_id=workspace_id, action="machine_key.revoke", resource_kind="machine_key", resource_id=key_id)

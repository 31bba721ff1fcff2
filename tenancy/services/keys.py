"""Machine keys: issue, change, rotate, revoke. A secret is shown once; what is kept is its hash."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from audit.services import record
from kernel import clock, outbox
from kernel.errors import Conflict, Invalid
from kernel.events import DomainEvent
from kernel.transactions import in_workspace
from tenancy.events import MachineKeyChanged, MachineKeyIssued, MachineKeyRevoked, MachineKeyRotated
from tenancy.models import MachineKey
from tenancy.queries import credentials
from tenancy.services import granting
from tenancy.types import CredentialState

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
LONGEST_OVERLAP = 30 * 86400


def issue(
    *,
    workspace_id: UUID,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    allowed_networks: Sequence[str] = (),
    may: frozenset[str] = granting.EVERYTHING,
) -> tuple[MachineKey, str]:
    """A new key and its secret text, which is shown now and never again. `may` are the permissions of who issues it.

    What a key issues without an end or networks of its own gets those of that key.
    """
    granted = granting.checked_scopes(scopes, may=may)
    bound = granting.checked_networks(allowed_networks)
    with in_workspace(workspace_id):
        giver = granting.bounds()
        if giver is not None:
            expires_at, bound = expires_at or giver.expires_at, bound or list(giver.allowed_networks)
        granting.check_within(giver, expires_at=granting.checked_end(expires_at), allowed_networks=bound)
        prefix, secret = "".join(secrets.choice(ALPHABET) for _ in range(12)), _new_secret()
        key = MachineKey.objects.create(
            workspace_id=workspace_id,
            name=granting.checked_name(name),
            prefix=prefix,
            secret_hash=_hash(secret),
            scopes=granted,
            expires_at=expires_at,
            allowed_networks=bound,
            **granting.issuer(),
        )
        key.refresh_from_db()
        _note(key, "issue", MachineKeyIssued(workspace_id=workspace_id, machine_key_id=key.id), **_described(key))
    return key, _text(key, secret)


def change(
    *, workspace_id: UUID, key_id: UUID, changes: dict[str, Any], may: frozenset[str] = granting.EVERYTHING
) -> MachineKey:
    """Change name, scopes, end or networks of a key. What it may afterwards must be within what the changer may."""
    with in_workspace(workspace_id):
        key = _active(key_id)
        if "scopes" in changes:
            key.scopes = granting.checked_scopes(changes["scopes"], may=may)
        if "allowed_networks" in changes:
            key.allowed_networks = granting.checked_networks(changes["allowed_networks"])
        if "expires_at" in changes:
            key.expires_at = granting.checked_end(changes["expires_at"])
        if changes.keys() & {"scopes", "allowed_networks", "expires_at"}:
            _check_power(key, may)
        key.name = granting.checked_name(changes.get("name", key.name))
        key.save(update_fields=["name", "scopes", "allowed_networks", "expires_at"])
        key.refresh_from_db()
        _note(key, "change", MachineKeyChanged(workspace_id=workspace_id, machine_key_id=key.id), **_described(key))
    return key


def rotate(
    *,
    workspace_id: UUID,
    key_id: UUID,
    overlap_seconds: int | None = None,
    may: frozenset[str] = granting.EVERYTHING,
) -> tuple[MachineKey, str]:
    """A new secret for the same key; the one before it stays good for the overlap (0: ends now). Shown once.

    Who learns a secret can do all that the key can, so only somebody who may as much gets one.
    """
    overlap = settings.MACHINE_KEY_OVERLAP_SECONDS if overlap_seconds is None else overlap_seconds
    if not 0 <= overlap <= LONGEST_OVERLAP:
        raise Invalid(f"The overlap is from 0 to {LONGEST_OVERLAP} seconds.", pointer="/overlap_seconds")
    with in_workspace(workspace_id):
        key = _active(key_id)
        _check_power(key, may)
        secret = _new_secret()
        key.previous_hash = bytes(key.secret_hash) if overlap else None
        key.previous_until = clock.now() + timedelta(seconds=overlap) if overlap else None
        key.secret_hash = _hash(secret)
        key.save(update_fields=["secret_hash", "previous_hash", "previous_until"])
        key.refresh_from_db()
        event = MachineKeyRotated(
            workspace_id=workspace_id, machine_key_id=key.id, previous_secret_until=key.previous_until
        )
        _note(key, "rotate", event, previous_secret_until=key.previous_until)
    return key, _text(key, secret)


def revoke(*, workspace_id: UUID, key_id: UUID, with_issued: bool = False) -> list[UUID]:
    """End a key; it is refused from the next request on, in every process. The ids of the keys that ended now.

    A key that leaked may have issued others: `with_issued` ends those too, and theirs.
    """
    ended = []
    with in_workspace(workspace_id):
        key = credentials.machine_key(key_id)
        pending, seen = [key], {key.id}
        while pending:
            key = pending.pop()
            if MachineKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=clock.now()):
                ended.append(key.id)
                _note(key, "revoke", MachineKeyRevoked(workspace_id=workspace_id, machine_key_id=key.id))
            if with_issued:
                issued = MachineKey.objects.filter(issued_by_kind="machine_key", issued_by_id=str(key.id))
                fresh = list(issued.exclude(id__in=seen))
                seen |= {one.id for one in fresh}
                pending += fresh
    return ended


def _active(key_id: UUID) -> MachineKey:
    """The key, locked, when it has not ended."""
    credentials.machine_key(key_id)
    key = MachineKey.objects.select_for_update(no_key=True).get(id=key_id)
    if key.state == CredentialState.REVOKED:
        raise Conflict("This key is revoked for good. Issue another one.")
    return key


def _check_power(key: MachineKey, may: frozenset[str]) -> None:
    granting.checked_scopes(key.scopes, may=may)
    granting.check_within(granting.bounds(), expires_at=key.expires_at, allowed_networks=key.allowed_networks)


def _new_secret() -> str:
    return secrets.token_urlsafe(32)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _text(key: MachineKey, secret: str) -> str:
    return f"mk_{key.prefix}_{secret}"


def _described(key: MachineKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "scopes": key.scopes,
        "allowed_networks": key.allowed_networks,
        "expires_at": key.expires_at,
    }


def _note(key: MachineKey, verb: str, event: DomainEvent, **details: Any) -> None:
    """The record and the fact of a change, in its unit of work."""
    record(
        workspace_id=key.workspace_id,
        action=f"machine_key.{verb}",
        resource_kind="machine_key",
        resource_id=key.id,
        payload=details,
    )
    outbox.emit(event)

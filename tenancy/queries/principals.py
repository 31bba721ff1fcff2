"""Whose is a credential, and does it hold now? Asked of the database at every request, in one statement each.

Nothing here is kept between requests: that is what makes a revocation hold at the next one, in every process.
"""

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn
from uuid import UUID

import orjson
from django.db import connection

from kernel import clock
from kernel.access import Principal
from kernel.context import ESTATE, Actor
from tenancy import permissions
from tenancy.credentials import peers
from tenancy.credentials.certificates import Certificate
from tenancy.credentials.tokens import Claims
from tenancy.types import Reason, Refused

KEY_START = "mk_"
SEES_ALL = "inbox.see_all"


@dataclass(frozen=True)
class Found:
    """Who it is, and when the credential was last noted as used (None too for kinds that do not note it)."""

    principal: Principal
    last_used_at: datetime | None = None


def of_machine_key(text: str, *, address: str) -> Found:
    """Who `mk_<prefix>_<secret>` is, coming from `address`; Refused when it does not hold."""
    prefix, _, secret = text.removeprefix(KEY_START).partition("_")
    if not secret or not secret.isascii() or not (prefix.isascii() and prefix.isalnum()):
        _refuse("machine_key", Reason.MALFORMED)
    row = _one("SELECT * FROM tenancy_machine_key_v1(%s)", [prefix])
    digest, now = hashlib.sha256(secret.encode()).digest(), clock.now()
    if row is None:
        _refuse("machine_key", Reason.UNKNOWN, prefix[:16])
    key_id, workspace_id = str(row["id"]), row["workspace_id"]
    checks = (
        (_is_its_secret(row, digest, now), Reason.WRONG_SECRET),
        (row["revoked_at"] is None, Reason.REVOKED),
        (row["expires_at"] is None or row["expires_at"] > now, Reason.EXPIRED),
        (row["is_open"], Reason.CLOSED_WORKSPACE),
        (_is_allowed_from(address, orjson.loads(row["allowed_networks"])), Reason.NETWORK_NOT_ALLOWED),
    )
    _check("machine_key", checks, key_id, workspace_id)
    return Found(_principal(row, "machine_key"), row["last_used_at"])


def of_token(claims: Claims) -> Found:
    """Who a verified token is: `sub` is the external id of an open workspace, and nobody has revoked it."""
    row = _one("SELECT * FROM tenancy_token_v1(%s, %s, %s)", [claims.subject, claims.jti, claims.kid])
    if row is None:
        _refuse("token", Reason.UNKNOWN, claims.jti)
    cutoff = row["valid_from"]
    checks = (
        (row["is_open"], Reason.CLOSED_WORKSPACE),
        (not row["is_key_revoked"], Reason.REVOKED_KEY),
        (not row["is_revoked"], Reason.REVOKED),
        (cutoff is None or claims.issued_at >= cutoff, Reason.ISSUED_BEFORE_CUTOFF),
    )
    _check("token", checks, claims.jti, row["workspace_id"])
    principal = Principal(
        workspace_id=row["workspace_id"],
        actor=Actor(kind="token", id=claims.jti),
        permissions=frozenset(filter(permissions.is_known, claims.scopes)),
        account=f"workspace:{row['workspace_id']}",
    )
    return Found(principal)


def of_certificate(certificate: Certificate) -> Found:
    """Who a client certificate is: exactly this one is registered, in its time, and nobody has revoked it."""
    named, now = certificate.fingerprint.hex(), clock.now()
    values = [certificate.fingerprint, certificate.serial, certificate.issuer, ESTATE]
    row = _one("SELECT * FROM tenancy_certificate_v1(%s, %s, %s, %s)", values)
    if row is None:
        _refuse("certificate", Reason.UNKNOWN, named)
    checks = (
        (row["revoked_at"] is None and not row["is_denied"], Reason.REVOKED),
        (certificate.not_after > now, Reason.EXPIRED),
        (certificate.not_before <= now, Reason.NOT_YET_VALID),
        (row["is_open"], Reason.CLOSED_WORKSPACE),
    )
    _check("certificate", checks, str(row["id"]), row["workspace_id"])
    return Found(_principal(row, "certificate"), row["last_used_at"])


def of_member(*, user_id: UUID, workspace_id: UUID) -> Principal | None:
    """Who a signed-in person is in a workspace; None without an active membership of an open one (S3-25)."""
    row = _one("SELECT * FROM tenancy_member_v1(%s, %s)", [user_id, workspace_id])
    if row is None:
        return None
    principal = Principal(
        workspace_id=workspace_id,
        actor=Actor(kind="user", id=str(user_id), label=row["label"]),
        permissions=frozenset(row["permissions"]),
    )
    if not row["is_narrowed"] or principal.allows(SEES_ALL):
        return principal
    return replace(principal, inbox_ids=frozenset(row["inbox_ids"]))


def of_operator(*, user_id: UUID, label: str, workspace_id: UUID | None) -> Principal:
    """Who runs the installation, in the workspace that they chose, or estate-wide. The actor of all that they do says so."""
    where = "as operator" if workspace_id else "as operator, estate-wide"
    return Principal(
        workspace_id=workspace_id or ESTATE,
        actor=Actor(kind="operator", id=str(user_id), label=f"{label} ({where})"),
        permissions=frozenset({"*"}),
    )


def _one(statement: str, values: list[Any]) -> dict[str, Any] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        return dict(zip((column.name for column in cursor.description), row, strict=True)) if row else None


def _is_its_secret(row: dict[str, Any], digest: bytes, now: datetime) -> bool:
    """The present secret, or the one before it while a rotation lets both pass. Both are always compared."""
    present = hmac.compare_digest(bytes(row["secret_hash"]), digest)
    before = hmac.compare_digest(bytes(row["previous_hash"] or b""), digest)
    return present or (before and row["previous_until"] > now)


def _is_allowed_from(address: str, allowed: list[str]) -> bool:
    return not allowed or peers.is_within(address, allowed)


def _principal(row: dict[str, Any], kind: str) -> Principal:
    actor = Actor(kind=kind, id=str(row["id"]), label=row["name"])
    return Principal(workspace_id=row["workspace_id"], actor=actor, permissions=frozenset(orjson.loads(row["scopes"])))


def _check(kind: str, checks: tuple[tuple[bool, Reason], ...], named: str, workspace_id: UUID) -> None:
    for holds, reason in checks:
        if not holds:
            raise Refused(reason, kind=kind, named=named, workspace_id=workspace_id)


def _refuse(kind: str, reason: Reason, named: str = "") -> NoReturn:
    raise Refused(reason, kind=kind, named=named)

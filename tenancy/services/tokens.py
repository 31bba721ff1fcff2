"""Machine tokens: sign one for a workspace, revoke one, all of a time, or all of a key."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from audit.services import record
from kernel import clock, outbox
from kernel.context import ESTATE
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_workspace
from tenancy.credentials import keyring, tokens
from tenancy.credentials.keys import Key, KeyRefused, checked_kid
from tenancy.credentials.tokens import Signed
from tenancy.events import SigningKeyRevoked, TokenIssued, TokenRevoked, TokensRevoked
from tenancy.models import RevokedSigningKey, RevokedToken, Workspace
from tenancy.services import granting
from tenancy.types import WorkspaceStatus


def check_issue(*, workspace: Workspace, scopes: Sequence[str], lifetime: timedelta, kid: str = "") -> Key:
    """The key that would sign such a token: the one of this name, else the first of JWT_SIGNING_KEYS."""
    granting.checked_scopes(scopes, may=granting.EVERYTHING)
    longest = timedelta(seconds=settings.JWT_MAX_LIFETIME_SECONDS)
    if not timedelta(seconds=1) <= lifetime <= longest:
        raise Invalid(
            f"A token lives from 1 to {settings.JWT_MAX_LIFETIME_SECONDS} seconds (JWT_MAX_LIFETIME_SECONDS)."
        )
    key = keyring.signing(kid)
    if key is None:
        raise Conflict(
            f"No key {kid!r} signs here. Name one of JWT_SIGNING_KEYS, or a shared secret of JWT_KEYS."
            if kid
            else "No key signs here. Set JWT_SIGNING_KEYS=kid:EdDSA:/path/of/key.pem (openssl genpkey -algorithm ed25519)."
        )
    if RevokedSigningKey.objects.filter(kid=key.kid).exists():
        raise Conflict(
            f"The key {key.kid!r} is revoked: nothing that it signs would be accepted. Put another one first."
        )
    if workspace.status != WorkspaceStatus.ACTIVE or workspace.deleted_at is not None:
        raise Conflict("The workspace is suspended or deleted; no token of it would be accepted.")
    return key


def issue(*, workspace: Workspace, scopes: Sequence[str], lifetime: timedelta, kid: str = "") -> Signed:
    """A signed token for a workspace, which acts within these scopes until its end."""
    key = check_issue(workspace=workspace, scopes=scopes, lifetime=lifetime, kid=kid)
    granted = sorted(set(scopes))
    signed = tokens.sign(key=key, subject=workspace.external_id, scopes=granted, lifetime=lifetime)
    with in_workspace(workspace.id):
        record(
            workspace_id=workspace.id,
            action="token.issue",
            resource_kind="token",
            resource_id=signed.jti,
            payload={"kid": signed.kid, "scopes": granted, "expires_at": signed.expires_at},
        )
        outbox.emit(
            TokenIssued(workspace_id=workspace.id, jti=signed.jti, kid=signed.kid, expires_at=signed.expires_at)
        )
    return signed


def revoke(*, workspace_id: UUID, jti: str) -> RevokedToken:
    """Refuse the token of this `jti` from the next request on, in every process. Revoking twice changes nothing."""
    if not tokens.JTI.fullmatch(jti):
        raise Invalid("A jti has 1 to 80 visible ASCII characters.", pointer="/jti")
    # No token that passes today can live longer than this, so nobody has to know its end.
    longest = settings.JWT_MAX_LIFETIME_SECONDS + settings.JWT_LEEWAY_SECONDS
    with in_workspace(workspace_id):
        row, created = RevokedToken.objects.get_or_create(
            workspace_id=workspace_id, jti=jti, defaults={"expires_at": clock.now() + timedelta(seconds=longest)}
        )
        if created:
            row.refresh_from_db()
            record(workspace_id=workspace_id, action="token.revoke", resource_kind="token", resource_id=jti)
            outbox.emit(TokenRevoked(workspace_id=workspace_id, jti=jti))
    return row


def revoke_issued_before(*, workspace_id: UUID, moment: datetime | None = None) -> datetime:
    """Refuse every token of the workspace that was issued before `moment` (default: now). The moment that holds.

    It only ever moves forward: what was refused stays refused.
    """
    now = clock.now()
    wanted = moment or now
    if wanted > now + timedelta(seconds=settings.JWT_LEEWAY_SECONDS):
        raise Invalid(
            "The time lies ahead: tokens that are not issued yet cannot be revoked.", pointer="/issued_before"
        )
    with in_workspace(workspace_id):
        workspace = Workspace.objects.select_for_update(no_key=True).get(id=workspace_id)
        if workspace.tokens_valid_from is not None and workspace.tokens_valid_from >= wanted:
            return workspace.tokens_valid_from
        workspace.tokens_valid_from = wanted
        workspace.save(update_fields=["tokens_valid_from"])
        record(
            workspace_id=workspace_id,
            action="token.revoke_all",
            resource_kind="workspace",
            resource_id=workspace_id,
            payload={"issued_before": wanted},
        )
        outbox.emit(TokensRevoked(workspace_id=workspace_id, issued_before=wanted))
    return wanted


def revoke_key(*, kid: str, reason: str = "") -> RevokedSigningKey:
    """Refuse every token that names this `kid`, of every workspace, from the next request on."""
    try:
        checked_kid(kid)
    except KeyRefused as error:
        raise Invalid(f"This cannot be the name of a key: {error}.", pointer="/kid") from error
    with in_workspace(ESTATE):
        row, created = RevokedSigningKey.objects.get_or_create(kid=kid, defaults={"reason": reason[:200]})
        if created:
            row.refresh_from_db()
            record(
                workspace_id=ESTATE,
                action="signing_key.revoke",
                resource_kind="signing_key",
                resource_id=kid[:80],
                payload={"kid": kid, "reason": reason},
            )
            outbox.emit(SigningKeyRevoked(workspace_id=ESTATE, kid=kid))
    return row

"""Machines prove themselves with `Authorization: Bearer`: a machine key or a JWT whose subject is the workspace."""

from typing import Any

import jwt
from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from kernel.access import Principal
from tenancy.queries import principals

_REFUSED = "The token or key is not valid here. Check that it is whole, not expired and not revoked."
_REQUIRED = ["exp", "iat", "iss", "aud", "sub", "jti"]
_FORBIDDEN_HEADERS = frozenset({"jwk", "jku", "x5u", "x5c", "crit", "b64"})
_MAX_TOKEN = 8_192


class MachineAuthentication(BaseAuthentication):
    """Machine keys (`mk_…`) and workspace JWTs."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        scheme, _, credential = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        if scheme.lower() != "bearer" or not credential or len(credential) > _MAX_TOKEN:
            raise AuthenticationFailed(_REFUSED)
        find = principals.of_machine_key if credential.startswith("mk_") else of_jwt
        principal = find(credential)
        if principal is None:
            raise AuthenticationFailed(_REFUSED)
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="autonomous-inbox"'


def of_jwt(token: str) -> Principal | None:
    """Verify with the one algorithm and key that `kid` names in our own settings; never with what the token brings."""
    claims = _verified_claims(token)
    if claims is None:
        return None
    subject, jti, scope = claims["sub"], claims["jti"], claims.get("scope", "")
    lifetime = int(claims["exp"]) - int(claims["iat"])
    if not (isinstance(jti, str) and jti and isinstance(scope, str)) or lifetime > settings.JWT_MAX_LIFETIME_SECONDS:
        return None
    return principals.of_token(subject=subject, jti=jti[:128], scopes=frozenset(scope.split()))


def _verified_claims(token: str) -> dict[str, Any] | None:
    try:
        header = jwt.get_unverified_header(token)
        kid = header.get("kid")
        known = settings.JWT_KEYS.get(kid) if isinstance(kid, str) else None
        if known is None or not _FORBIDDEN_HEADERS.isdisjoint(header):
            return None
        claims: dict[str, Any] = jwt.decode(
            token,
            key=known.key,
            algorithms=[known.algorithm],
            audience=settings.JWT_AUDIENCE,
            issuer=settings.JWT_ISSUER,
            leeway=settings.JWT_LEEWAY_SECONDS,
            options={"require": _REQUIRED},
        )
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return claims

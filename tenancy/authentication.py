"""Machines prove themselves with `Authorization: Bearer`: a machine key or a JWT whose subject is the workspace."""

import re
from typing import Any

import jwt
from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from kernel.access import Principal
from kernel.api import problems
from tenancy.queries import principals

_REFUSED = "The token or key is not valid here. Check that it is whole, not expired and not revoked."
_REQUIRED = ["exp", "iat", "iss", "aud", "sub", "jti"]
_FORBIDDEN_HEADERS = frozenset({"jwk", "jku", "x5u", "x5c", "crit", "b64"})
_MAX_TOKEN = 8_192
# The compact form of RFC 7515: three parts in base64url without padding.
_COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
# It becomes the actor of audit events, so it has to fit there.
_JTI = re.compile(r"[!-~]{1,80}")


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
        return problems.CHALLENGE


def of_jwt(token: str) -> Principal | None:
    """Verify with the one algorithm and key that `kid` names in our own settings; never with what the token brings."""
    claims = _verified_claims(token)
    if claims is None:
        return None
    subject, jti, scope = claims["sub"], claims["jti"], claims.get("scope", "")
    if not (isinstance(jti, str) and _JTI.fullmatch(jti) and isinstance(scope, str) and _lives_briefly(claims)):
        return None
    return principals.of_token(subject=subject, jti=jti, scopes=frozenset(scope.split()))


def _lives_briefly(claims: dict[str, Any]) -> bool:
    issued, expires = claims["iat"], claims["exp"]
    if isinstance(issued, bool) or isinstance(expires, bool):
        return False
    if not (isinstance(issued, int | float) and isinstance(expires, int | float)):
        return False
    lifetime: int = settings.JWT_MAX_LIFETIME_SECONDS
    return 0 < expires - issued <= lifetime


def _verified_claims(token: str) -> dict[str, Any] | None:
    if not _COMPACT.fullmatch(token):
        return None
    try:
        header = jwt.get_unverified_header(token)
        kid = header.get("kid")
        known = settings.JWT_KEYS.get(kid) if isinstance(kid, str) else None
        if known is None or not _FORBIDDEN_HEADERS.isdisjoint(header) or not _is_access_token(header):
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


def _is_access_token(header: dict[str, Any]) -> bool:
    """No `typ`, or one of ours (RFC 9068): an id token or a logout token of the same issuer is no key to an API."""
    kind = header.get("typ", "JWT")
    return isinstance(kind, str) and kind.lower().removeprefix("application/") in {"jwt", "at+jwt"}


class MachineScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API's description names the two credentials."""

    target_class = MachineAuthentication
    name = "machine"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A machine key (mk_…) or a workspace JWT."}

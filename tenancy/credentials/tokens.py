"""Machine tokens: JWTs whose subject is a workspace. Verified with the one algorithm and key that their `kid` names here.

PyJWT checks the signature and the times; around it, everything is read strictly: one reading of each part, no name
twice, and each claim of its one type.
"""

import base64
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn
from uuid import UUID, uuid4

import jwt
from django.conf import settings

from kernel import clock
from tenancy.credentials import keyring
from tenancy.credentials.keys import Key
from tenancy.types import Reason, Refused

_REQUIRED: Final = ("exp", "iat", "iss", "aud", "sub", "jti")
# What would have the token choose its own key, and extensions that we do not know (RFC 7515, 4.1.11; RFC 7797).
_FORBIDDEN: Final = frozenset({"jwk", "jku", "x5u", "x5c", "crit", "b64"})
_TYPES: Final = frozenset({"jwt", "at+jwt"})
# The compact form of RFC 7515: three parts in base64url without padding.
_COMPACT: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
# It becomes the actor of audit events, so it has to fit there.
JTI: Final = re.compile(r"[!-~]{1,80}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_THUMBPRINT: Final = re.compile(r"[\w-]{43}", re.ASCII)
_FAULTS: Final[tuple[tuple[type[Exception], Reason], ...]] = (
    (jwt.ExpiredSignatureError, Reason.EXPIRED),
    (jwt.ImmatureSignatureError, Reason.NOT_YET_VALID),
    (jwt.InvalidIssuerError, Reason.OTHER_ISSUER),
    (jwt.InvalidAudienceError, Reason.OTHER_AUDIENCE),
    (jwt.MissingRequiredClaimError, Reason.CLAIM_MISSING),
    (jwt.InvalidAlgorithmError, Reason.OTHER_ALGORITHM),
    (jwt.InvalidSignatureError, Reason.BAD_SIGNATURE),
)


@dataclass(frozen=True)
class Claims:
    """What a verified token says, each of its type."""

    subject: UUID
    jti: str
    kid: str
    issued_at: datetime
    expires_at: datetime
    scopes: frozenset[str]
    # SHA-256 of the client certificate that the token is bound to (RFC 8705), in base64url; empty: to none.
    thumbprint: str = ""


@dataclass(frozen=True)
class Signed:
    """A token of our own making."""

    text: str
    jti: str
    kid: str
    expires_at: datetime


def verify(text: str) -> Claims:
    """The claims of a token that holds here and now; Refused for every other text. Revocations are asked elsewhere."""
    if len(text) > settings.JWT_MAX_BYTES or not _COMPACT.fullmatch(text):
        _refuse(Reason.MALFORMED)
    header = _read(text.split(".", maxsplit=1)[0])
    key = _key_for(header)
    try:
        jwt.decode(
            text,
            key=key.key,
            algorithms=[key.algorithm],
            audience=settings.JWT_AUDIENCE,
            issuer=settings.JWT_ISSUER,
            leeway=settings.JWT_LEEWAY_SECONDS,
            options={"require": list(_REQUIRED)},
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise Refused(_reason(error), kind="token", named=key.kid) from error
    return _claims(_read(text.split(".")[1]), key.kid)


def sign(*, key: Key, subject: UUID, scopes: list[str], lifetime: timedelta) -> Signed:
    """A token for a workspace, as an identity provider would make it."""
    issued = int(clock.now().timestamp())
    expires = issued + int(lifetime.total_seconds())
    jti = uuid4().hex
    content = {
        "iss": settings.JWT_ISSUER,
        "aud": settings.JWT_AUDIENCE,
        "sub": str(subject),
        "jti": jti,
        "iat": issued,
        "exp": expires,
        settings.JWT_SCOPE_CLAIM: " ".join(scopes),
    }
    text = jwt.encode(content, key.key, algorithm=key.algorithm, headers={"kid": key.kid, "typ": "at+jwt"})
    return Signed(text, jti, key.kid, datetime.fromtimestamp(expires, UTC))


def _refuse(reason: Reason, named: str = "") -> NoReturn:
    raise Refused(reason, kind="token", named=named)


def _reason(error: Exception) -> Reason:
    return next((reason for kind, reason in _FAULTS if isinstance(error, kind)), Reason.BAD_CLAIM)


def _read(part: str) -> dict[str, Any]:
    """One part as an object without doubled names, and without the numbers that JSON does not have."""
    try:
        content = json.loads(
            base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode(),
            object_pairs_hook=_each_once,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        _refuse(Reason.MALFORMED)
    return content


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _key_for(header: Mapping[str, Any]) -> Key:
    kid, kind = header.get("kid"), header.get("typ", "JWT")
    if not _FORBIDDEN.isdisjoint(header):
        _refuse(Reason.FORBIDDEN_HEADER)
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in _TYPES:
        _refuse(Reason.OTHER_TYPE)
    key = keyring.find(kid) if isinstance(kid, str) and kid else None
    if key is None:
        _refuse(Reason.UNKNOWN_KEY, str(kid)[:80])
    if header.get("alg") != key.algorithm:
        _refuse(Reason.OTHER_ALGORITHM, key.kid)
    return key


def _claims(content: Mapping[str, Any], kid: str) -> Claims:
    issued, expires = _moment(content["iat"], kid), _moment(content["exp"], kid)
    _moment(content.get("nbf", 0), kid)
    if not 0 < expires - issued <= settings.JWT_MAX_LIFETIME_SECONDS:
        _refuse(Reason.LIVES_TOO_LONG, kid)
    subject, jti, scope = content["sub"], content["jti"], content.get(settings.JWT_SCOPE_CLAIM, "")
    if not isinstance(subject, str) or not _UUID.fullmatch(subject):
        _refuse(Reason.BAD_CLAIM, kid)
    if not isinstance(jti, str) or not JTI.fullmatch(jti) or not isinstance(scope, str):
        _refuse(Reason.BAD_CLAIM, kid)
    return Claims(
        subject=UUID(subject),
        jti=jti,
        kid=kid,
        issued_at=datetime.fromtimestamp(issued, UTC),
        expires_at=datetime.fromtimestamp(expires, UTC),
        scopes=frozenset(scope.split()),
        thumbprint=_thumbprint(content, kid),
    )


def _moment(value: Any, kid: str) -> float:
    """A NumericDate: a finite number, and not the booleans that Python counts among them."""
    try:
        is_moment = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        is_moment = False
    if not is_moment:
        _refuse(Reason.BAD_CLAIM, kid)
    moment: float = value
    return moment


def _thumbprint(content: Mapping[str, Any], kid: str) -> str:
    """A token that is bound to something is never taken as if it were bound to nothing (RFC 7800, RFC 8705)."""
    if "cnf" not in content:
        return ""
    bound = content["cnf"]
    value = bound.get("x5t#S256") if isinstance(bound, dict) and len(bound) == 1 else None
    if not isinstance(value, str) or not _THUMBPRINT.fullmatch(value):
        _refuse(Reason.BAD_CLAIM, kid)
    return value

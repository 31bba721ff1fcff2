"""Keys that sign and verify tokens: read strictly, each for exactly one algorithm.

Knows no settings, because the settings are read with it.
"""

from dataclasses import dataclass
from typing import Any, Final

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

SHARED: Final = "HS256"
ALGORITHMS: Final = frozenset({"RS256", "ES256", "EdDSA"})
_BY_TYPE: Final = {("RSA", None): "RS256", ("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA"}
_PRIVATE_PARTS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})
LONGEST_KID: Final = 200


class KeyRefused(ValueError):
    """A key that is not used here; the text says why, and never shows the key."""


@dataclass(frozen=True, eq=False)
class Key:
    """One key under its name, with the one algorithm that it is for."""

    kid: str
    algorithm: str
    key: Any

    def __repr__(self) -> str:
        return f"<{self.algorithm} key {self.kid!r}>"


def from_jwk(entry: Any, *, allow_shared: bool) -> Key:
    """A public key, or, where the operator configures it and nowhere else, a shared secret, from its JWK (RFC 7517)."""
    if not isinstance(entry, dict):
        raise KeyRefused("a key must be a JSON object")
    kid = checked_kid(entry.get("kid"))
    algorithm = _algorithm(entry)
    if algorithm == SHARED and not allow_shared:
        raise KeyRefused("a shared secret is taken from the configuration only")
    if not _is_for_verifying(entry):
        raise KeyRefused("its use or key_ops are not for verifying signatures")
    if not _PRIVATE_PARTS.isdisjoint(entry):
        raise KeyRefused("it holds a private key; give the public one")
    try:
        key = jwt.PyJWK(entry, algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, UnsupportedAlgorithm) as error:
        raise KeyRefused("it cannot be read") from error
    return Key(kid, algorithm, checked(algorithm, key))


def from_pem(kid: str, algorithm: str, pem: bytes, *, private: bool) -> Key:
    """A key from PEM: the public one (SubjectPublicKeyInfo), or with `private` the one that signs (PKCS #8)."""
    checked_kid(kid)
    if algorithm not in ALGORITHMS:
        raise KeyRefused(f"its algorithm must be one of {', '.join(sorted(ALGORITHMS))}")
    try:
        key: Any = serialization.load_pem_private_key(pem, None) if private else serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        kind = "a private key without a passphrase" if private else "a public key"
        raise KeyRefused(f"the file must hold {kind} in PEM") from error
    checked(algorithm, key.public_key() if private else key)
    return Key(kid, algorithm, key)


def public_half(signing: Key) -> Key:
    """What verifies the signatures of a private key."""
    return Key(signing.kid, signing.algorithm, signing.key.public_key())


def checked_kid(kid: Any) -> str:
    """A name that can stand in a header, a log line and a table."""
    if not isinstance(kid, str) or not 0 < len(kid) <= LONGEST_KID or not kid.isascii() or not kid.isprintable():
        raise KeyRefused(f"it needs a kid of its own, of 1 to {LONGEST_KID} printable ASCII characters")
    return kid


def checked(algorithm: str, key: Any) -> Any:
    """The key, when it is of the kind and strength that its algorithm asks for."""
    fits = {
        "RS256": lambda: isinstance(key, rsa.RSAPublicKey) and 2048 <= key.key_size <= 8192,
        "ES256": lambda: isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1),
        "EdDSA": lambda: isinstance(key, ed25519.Ed25519PublicKey),
        SHARED: lambda: isinstance(key, bytes) and 32 <= len(key) <= 1024,
    }
    if not fits[algorithm]():
        raise KeyRefused(
            f"it is not what {algorithm} needs (RS256: RSA of 2048 to 8192 bits; ES256: P-256; EdDSA: Ed25519; "
            "HS256: 32 bytes or more)"
        )
    return key


def _algorithm(entry: dict[str, Any]) -> str:
    """The algorithm that the key names, else the only one that we use its type for."""
    curve = entry.get("crv") if entry.get("kty") in ("EC", "OKP") else None
    usual = _BY_TYPE.get((str(entry.get("kty")), curve)) if isinstance(curve, str | None) else None
    named = entry.get("alg", usual)
    if named == SHARED and entry.get("kty") == "oct":
        return SHARED
    if not isinstance(named, str) or named not in ALGORITHMS or named != usual:
        raise KeyRefused(f"its alg must be one of {', '.join(sorted(ALGORITHMS))}, and fit its type")
    return named


def _is_for_verifying(entry: dict[str, Any]) -> bool:
    operations = entry.get("key_ops", ["verify"])
    return entry.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations

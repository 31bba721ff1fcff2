"""Keys and tokens as an issuer would make them, and as an attacker would."""

import base64
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from config import env
from kernel import clock
from tenancy.credentials.keys import Key
from tenancy.models import Workspace

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
SHARED = b"s" * 48
ALGORITHMS = {"rsa": "RS256", "ec": "ES256", "ed": "EdDSA", "shared": "HS256"}
PRIVATE: dict[str, Any] = {"rsa": RSA, "ec": EC, "ed": ED, "shared": SHARED}


def documents() -> dict[str, Any]:
    """The keys of an issuer as a JWKS document."""
    makers = {
        "RS256": jwt.algorithms.RSAAlgorithm,
        "ES256": jwt.algorithms.ECAlgorithm,
        "EdDSA": jwt.algorithms.OKPAlgorithm,
    }
    keys = []
    for kid, algorithm in ALGORITHMS.items():
        if algorithm == "HS256":
            entry = {"kty": "oct", "k": base64.urlsafe_b64encode(SHARED).rstrip(b"=").decode()}
        else:
            entry = makers[algorithm].to_jwk(PRIVATE[kid].public_key(), as_dict=True)
        keys.append(entry | {"kid": kid, "alg": algorithm})
    return {"keys": keys}


def jwks() -> dict[str, Key]:
    """The setting JWT_KEYS, through the reader that production uses."""
    return env.jwt_keys(json.dumps(documents()))


def pem(key: Any) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def der(key: Any) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def claims(workspace: Workspace, **changes: Any) -> dict[str, Any]:
    """Good claims, with changes; a change to None leaves the claim out."""
    now = int(clock.now().timestamp())
    usual = {
        "iss": "autonomous-inbox",
        "aud": "autonomous-inbox",
        "sub": str(workspace.external_id),
        "jti": uuid4().hex,
        "iat": now,
        "exp": now + int(timedelta(minutes=10).total_seconds()),
        "scope": "email.read thread.read",
    }
    return {name: value for name, value in (usual | changes).items() if value is not None}


def sign(content: dict[str, Any], *, kid: Any = "rsa", key: Any = None, algorithm: str = "", **headers: Any) -> str:
    """A token by a library, as an honest issuer makes it."""
    return jwt.encode(
        content,
        PRIVATE[kid] if key is None else key,
        algorithm=algorithm or ALGORITHMS[kid],
        headers={"kid": kid} | headers,
    )


def part(content: Any) -> str:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def by_hand(header: Any, content: Any, *, key: Any = None, algorithm: str = "RS256") -> str:
    """A token with any header and content, truly signed with a key of ours: what no library would make."""
    signed = f"{part(header)}.{part(content)}".encode()
    maker = jwt.algorithms.get_default_algorithms()[algorithm]
    signature = maker.sign(signed, maker.prepare_key(RSA if key is None else key))
    return f"{signed.decode()}.{part(signature)}"

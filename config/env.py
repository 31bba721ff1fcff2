"""Typed reading of the environment. Any NAME may instead be given as NAME_FILE, the path of a file with the value."""

import base64
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environ

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"

env = environ.FileAwareEnv()


@dataclass(frozen=True)
class JwtKey:
    """A key that verifies tokens, and the one algorithm that it is for."""

    algorithm: str
    key: Any


class ConfigurationError(Exception):
    """The environment holds a value that cannot be used; the text names the variable and what it should be."""


def local_secrets() -> dict[str, str]:
    """Secrets of a machine without configuration: made once, kept in var/secrets.json for the owner's eyes only."""
    path = VAR / "secrets.json"
    if not path.exists():
        VAR.mkdir(exist_ok=True)
        made = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "ENCRYPTION_KEYS": "1:" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "REPLY_TOKEN_KEY": secrets.token_urlsafe(32),
            "PROVISIONING_TOKEN": secrets.token_urlsafe(32),
        }
        scratch = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(made, file)
        try:
            os.link(scratch, path)  # the first of several processes wins; the others read its file
        except FileExistsError:
            pass
        finally:
            scratch.unlink()
    content: dict[str, str] = json.loads(path.read_text())
    return content


def encryption_keys(text: str) -> dict[int, bytes]:
    """`1:<base64 of 32 bytes>,2:…` as {1: b"…", 2: b"…"}; the highest number encrypts."""
    keys: dict[int, bytes] = {}
    try:
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            version, _, encoded = part.partition(":")
            keys[int(version)] = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise ConfigurationError("ENCRYPTION_KEYS must look like 1:<base64 of 32 bytes>,2:<…>.") from error
    if not keys or any(len(key) != 32 for key in keys.values()):
        raise ConfigurationError("ENCRYPTION_KEYS needs at least one key, each of exactly 32 bytes in base64.")
    return keys


def jwt_keys(text: str) -> dict[str, JwtKey]:
    """A JWKS document (RFC 7517) as {kid: key}. Each key must name its `kid` and its one `alg`."""
    import jwt

    allowed = {"RS256", "RS384", "RS512", "ES256", "ES384", "EdDSA", "HS256", "HS384", "HS512"}
    found: dict[str, JwtKey] = {}
    for entry in json.loads(text).get("keys", []) if text.strip() else []:
        kid, algorithm = entry.get("kid"), entry.get("alg")
        if not kid or algorithm not in allowed or kid in found:
            raise ConfigurationError(
                f"JWT_KEYS: each key needs its own kid and an alg of {', '.join(sorted(allowed))}."
            )
        key = jwt.PyJWK(entry, algorithm).key
        if isinstance(key, bytes) and len(key) < 32:
            raise ConfigurationError(f"JWT_KEYS: the shared key {kid!r} has fewer than 32 bytes.")
        found[kid] = JwtKey(algorithm, key)
    return found


def database(url: str, *, role: str) -> dict[str, Any]:
    """A Django database entry that always acts as `role`, whichever user the URL signs in as."""
    config: dict[str, Any] = environ.Env.db_url_config(url)
    config["ENGINE"] = "django.db.backends.postgresql"
    # A connection costs a sign-in and the plans of every hot statement, so threads keep theirs.
    config["CONN_MAX_AGE"] = env.int("DATABASE_CONNECTION_SECONDS", default=300)
    config["CONN_HEALTH_CHECKS"] = True
    options = config.setdefault("OPTIONS", {})
    # A URL that signs in as the role itself needs no switch (and may go through a pooler that refuses options).
    if config.get("USER") != role:
        options["options"] = f"{options.get('options', '')} -c role={role}".strip()
    return config

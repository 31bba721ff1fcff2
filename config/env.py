"""Typed reading of the environment. Any NAME may instead be given as NAME_FILE, the path of a file with the value."""

import base64
import json
import os
import re
import secrets
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

from tenancy.credentials import keys
from tenancy.credentials.keys import Key

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"


class ConfigurationError(ImproperlyConfigured):
    """The environment holds a value that cannot be used; the text names the variable and what it should be."""


class _Values(FileAwareMapping):  # type: ignore[misc]
    """The environment, taken by the letter."""

    def __getitem__(self, key: str) -> str:
        path = self.env.get(f"{key}_FILE")
        try:
            value: str = super().__getitem__(key)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{key}_FILE: {path} cannot be read ({type(error).__name__}).") from error
        if path:
            # Editors and `echo` end a file with a newline, which belongs to no password.
            value = value.rstrip("\r\n")
        # The library would take `$NAME` for the value of NAME; escaped, it gives back the dollar sign.
        return value.replace("$", r"\$")


class _Env(environ.Env):  # type: ignore[misc]
    ENVIRON = _Values()

    def __init__(self) -> None:
        super().__init__()
        self.escape_proxy = True


env = _Env()


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
    try:
        content: dict[str, str] = json.loads(path.read_text())
        return {
            name: content[name] for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "REPLY_TOKEN_KEY", "PROVISIONING_TOKEN")
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        # Never made anew in its place: what the old keys sealed would be lost without a word.
        raise ConfigurationError(
            f"The secrets of this machine cannot be read from {path} ({type(error).__name__}); restore the file from a copy, "
            "or, if nothing sealed with them is worth keeping, delete it together with the database."
        ) from error


def encryption_keys(text: str, *, may_be_none: bool = False) -> dict[int, bytes]:
    """`1:<base64 of 32 bytes>,2:…` as {1: b"…", 2: b"…"}; the highest number encrypts."""
    found: dict[int, bytes] = {}
    try:
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            version, _, encoded = part.partition(":")
            found[int(version)] = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise ConfigurationError("ENCRYPTION_KEYS must look like 1:<base64 of 32 bytes>,2:<…>.") from error
    if may_be_none and not found:
        return found
    if not found or any(len(key) != 32 for key in found.values()):
        raise ConfigurationError("ENCRYPTION_KEYS needs at least one key, each of exactly 32 bytes in base64.")
    return found


def jwt_keys(text: str) -> dict[str, Key]:
    """A JWKS document (RFC 7517) as {kid: key}: public keys, and shared secrets, which are taken from here only."""
    try:
        entries = json.loads(text)["keys"] if text.strip() else []
        found = [keys.from_jwk(entry, allow_shared=True) for entry in entries]
    except keys.KeyRefused as refusal:
        raise ConfigurationError(f"JWT_KEYS holds a key that cannot be used: {refusal}.") from refusal
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError('JWT_KEYS must be a JWKS document: {"keys": [{"kid": …, "kty": …, …}]}.') from error
    return _by_kid(found)


def pem_keys(entries: list[str], *, variable: str, private: bool = False) -> dict[str, Key]:
    """`kid:algorithm:path` of PEM files as {kid: key}, in the order given."""
    found = []
    for entry in entries:
        kid, _, rest = entry.strip().partition(":")
        algorithm, _, path = rest.partition(":")
        if not path:
            raise ConfigurationError(f"{variable}: {entry!r} must look like kid:algorithm:/path/of/key.pem.")
        try:
            found.append(keys.from_pem(kid, algorithm, Path(path).read_bytes(), private=private))
        except OSError as error:
            raise ConfigurationError(
                f"{variable}: the key {kid!r} cannot be read from {path} ({error.strerror}); put it there, or take the "
                "entry out."
            ) from error
        except keys.KeyRefused as refusal:
            raise ConfigurationError(f"{variable}: the key {kid!r} cannot be used: {refusal}.") from refusal
    return _by_kid(found)


def verifying_keys(*sets: dict[str, Key], signing: dict[str, Key]) -> dict[str, Key]:
    """All keys that verify tokens: the given ones, and the public halves of those that sign here."""
    every = [key for one in sets for key in one.values()]
    return _by_kid([*every, *(keys.public_half(key) for key in signing.values())])


def _by_kid(found: list[Key]) -> dict[str, Key]:
    named = {key.kid: key for key in found}
    if len(named) != len(found):
        raise ConfigurationError("Two keys for tokens have the same kid. Give each a name of its own.")
    return named


def proxy_networks(entries: list[str], *, variable: str, header: str, drops_underscores: bool) -> list[str]:
    """Networks of proxies whose `header` is believed; ConfigurationError where others could send it as well.

    To an application behind WSGI, `X_Name` and `X-Name` are one. A proxy that sets the one and lets the other pass
    would hand on what its clients made up; so it must be said to drop such names, or the name must have no hyphen.
    """
    try:
        found = [str(ip_network(entry.strip())) for entry in entries]
    except ValueError as error:
        raise ConfigurationError(f"{variable} must be a list of networks such as 10.0.0.0/8: {error}.") from error
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", header):
        raise ConfigurationError(f"{variable}: {header!r} cannot be the name of its header.")
    if found and "-" in header and not drops_underscores:
        raise ConfigurationError(
            f"{variable} is set, but a client could send {header.replace('-', '_')} past the proxy as if it were {header}: "
            "have the proxy drop header names with an underscore (nginx does by default) and set "
            "PROXY_DROPS_UNDERSCORES=true, or, for certificates, choose a CLIENT_CERT_HEADER without a hyphen."
        )
    return found


def single_sign_on(server_url: str, *, client_id: str, secret: str, name: str) -> dict[str, Any]:
    """The provider of OpenID Connect as django-allauth wants it told; none without a URL."""
    if not server_url:
        return {}
    if not client_id or not secret:
        raise ConfigurationError("OIDC_SERVER_URL needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET beside it.")
    app = {
        "provider_id": "sso",
        "name": name,
        "client_id": client_id,
        "secret": secret,
        "settings": {"server_url": server_url, "oauth_pkce_enabled": True},
    }
    return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}


def database(url: str, *, role: str) -> dict[str, Any]:
    """A Django database entry that always acts as `role`, whichever user the URL signs in as."""
    config: dict[str, Any] = environ.Env.db_url_config(url)
    config["ENGINE"] = "kernel.postgresql"
    # How long a thread keeps a connection, which costs a sign-in and the plans of every hot statement.
    config["CONN_MAX_AGE"] = env.int("DATABASE_CONNECTION_SECONDS", default=300)
    config["CONN_HEALTH_CHECKS"] = True
    options = config.setdefault("OPTIONS", {})
    # A URL that signs in as the role itself needs no switch (and may go through a pooler that refuses options).
    if config.get("USER") != role:
        options["options"] = f"{options.get('options', '')} -c role={role}".strip()
    return config

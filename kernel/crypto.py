"""Envelopes for secrets: AES-256-GCM, key version and associated data in the frame (decision X-23).

Frame: `1 byte format (1) | 4 bytes key version, big endian | 12 bytes nonce | ciphertext and tag`. The associated data
names workspace, table, row and purpose, so that a ciphertext moved to another row, or given another key version, does
not open. Nonces are random; a key is good for 2**32 encryptions (NIST SP 800-38D, 8.3).
"""

import hmac
import os
import time
from functools import cache
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, ProgrammingError, connection

_FORMAT = 1
_HEADER = 5
_NONCE = 12
_TAG = 16


class CannotDecrypt(Exception):
    """The one error for every failed opening: it does not say which part was wrong."""

    def __init__(self) -> None:
        super().__init__("The secret cannot be opened with the configured keys.")


class KeysRefused(ImproperlyConfigured):
    """The configured keys are not those that this database was written with, or that cannot be told: do not start."""


class KeyMismatch(KeysRefused):
    """A configured key is not the one that its version number had before."""


class KeyMissing(KeysRefused):
    """A key version that was in use, and was never retired, is not configured."""


@cache
def _ciphers(keys: tuple[tuple[int, bytes], ...]) -> dict[int, AESGCM]:
    return {version: AESGCM(key) for version, key in keys}


def _current() -> tuple[int, AESGCM]:
    ciphers = _ciphers(tuple(settings.ENCRYPTION_KEYS.items()))
    version = max(ciphers)
    return version, ciphers[version]


def _associated(*, header: bytes, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    parts = (str(workspace_id), table, str(row_id), purpose)
    return header + b"\x00".join(part.encode() for part in parts)


def seal(plaintext: bytes, *, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    """Encrypt with the newest key, bound to one field of one row."""
    version, cipher = _current()
    header = bytes([_FORMAT]) + version.to_bytes(4, "big")
    nonce = os.urandom(_NONCE)
    associated = _associated(header=header, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose)
    return header + nonce + cipher.encrypt(nonce, plaintext, associated)


def open_sealed(frame: bytes, *, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    """Decrypt what `seal` made for the same place; CannotDecrypt for anything else."""
    frame = bytes(frame)
    if len(frame) < _HEADER + _NONCE + _TAG or frame[0] != _FORMAT:
        raise CannotDecrypt
    cipher = _ciphers(tuple(settings.ENCRYPTION_KEYS.items())).get(key_version(frame))
    if cipher is None:
        raise CannotDecrypt
    header, nonce, body = frame[:_HEADER], frame[_HEADER : _HEADER + _NONCE], frame[_HEADER + _NONCE :]
    associated = _associated(header=header, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose)
    try:
        return cipher.decrypt(nonce, body, associated)
    except InvalidTag:
        raise CannotDecrypt from None


def key_version(frame: bytes) -> int:
    """The key version that a frame names."""
    return int.from_bytes(bytes(frame)[1:_HEADER], "big")


def check_value(key: bytes) -> bytes:
    """A fingerprint of a key that says nothing about it; stored to notice a wrong key at start."""
    return hmac.new(key, b"autonomous-inbox key check", sha256).digest()


def register_keys() -> None:
    """Record new key versions; refuse keys that changed under their number, and the loss of one (K5).

    Asked before anything is sealed or opened: with a wrong key, what is written would be lost beside what is.
    """
    from kernel.models import EncryptionKey

    keys: dict[int, bytes] = settings.ENCRYPTION_KEYS
    known = {row.version: bytes(row.check_value) for row in EncryptionKey.objects.filter(retired_at=None)}
    if lost := sorted(known.keys() - keys.keys()):
        raise KeyMissing(
            f"ENCRYPTION_KEYS lacks version {lost[0]}, with which secrets of this database are sealed: "
            "restore that key from a copy and add it again."
        )
    for version, key in keys.items():
        if version not in known:
            row, _ = EncryptionKey.objects.get_or_create(version=version, defaults={"check_value": check_value(key)})
            known[version] = bytes(row.check_value)
        if not hmac.compare_digest(known[version], check_value(key)):
            raise KeyMismatch(
                f"ENCRYPTION_KEYS version {version} is not the key that was used before: "
                "restore the old key under this number, and add the new one under the next number."
            )


def require_keys(*, patience: float = 30) -> None:
    """What every process that seals or opens asks before it starts. Waits a while for a database that is starting, too.

    KeysRefused, in one sentence, when the keys are wrong, or when nobody can tell.
    """
    ends = time.monotonic() + patience
    while True:
        try:
            register_keys()
        except OperationalError as error:
            if time.monotonic() >= ends:
                raise KeysRefused(
                    "The database does not answer, so nobody can tell whether ENCRYPTION_KEYS are its keys: "
                    "start it, or correct DATABASE_URL."
                ) from error
            connection.close()
            time.sleep(0.5)
        except ProgrammingError as error:
            raise KeysRefused("The database has no tables yet: run manage.py migrate.") from error
        else:
            break
    # Whoever starts here serves from other threads; this one would hold its connection for nothing.
    connection.close()

"""Envelopes for secrets: AES-256-GCM, key version and associated data in the frame (decision X-23).

Frame: `1 byte format (1) | 4 bytes key version, big endian | 12 bytes nonce | ciphertext and tag`. The associated data
names workspace, table, row and purpose, so that a ciphertext moved to another row, or given another key version, does
not open. Nonces are random; a key is good for 2**32 encryptions (NIST SP 800-38D, 8.3).
"""

import hmac
import os
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_FORMAT = 1
_HEADER = 5
_NONCE = 12
_TAG = 16


class CannotDecrypt(Exception):
    """The one error for every failed opening: it does not say which part was wrong."""

    def __init__(self) -> None:
        super().__init__("The secret cannot be opened with the configured keys.")


@lru_cache(maxsize=64)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def _associated(*, header: bytes, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    parts = (str(workspace_id), table, str(row_id), purpose)
    return header + b"\x00".join(part.encode() for part in parts)


def seal(
    plaintext: bytes, *, version: int, key: bytes, workspace_id: UUID, table: str, row_id: UUID, purpose: str
) -> bytes:
    """Encrypt with one key, bound to one field of one row."""
    header = bytes([_FORMAT]) + version.to_bytes(4, "big")
    nonce = os.urandom(_NONCE)
    associated = _associated(header=header, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose)
    return header + nonce + _cipher(key).encrypt(nonce, plaintext, associated)


def open_sealed(
    frame: bytes, *, keys: Mapping[int, bytes], workspace_id: UUID, table: str, row_id: UUID, purpose: str
) -> bytes:
    """Decrypt what `seal` made for the same place; CannotDecrypt for anything else."""
    frame = bytes(frame)
    key = keys.get(key_version(frame)) if is_frame(frame) else None
    if key is None:
        raise CannotDecrypt
    header, nonce, body = frame[:_HEADER], frame[_HEADER : _HEADER + _NONCE], frame[_HEADER + _NONCE :]
    associated = _associated(header=header, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose)
    try:
        return _cipher(key).decrypt(nonce, body, associated)
    except InvalidTag:
        raise CannotDecrypt from None


def is_frame(frame: bytes) -> bool:
    """Whether something has the form of a frame."""
    return len(frame) >= _HEADER + _NONCE + _TAG and frame[0] == _FORMAT


def key_version(frame: bytes) -> int:
    """The key version that a frame names."""
    return int.from_bytes(bytes(frame)[1:_HEADER], "big")


def check_value(key: bytes) -> bytes:
    """A fingerprint of a key that says nothing about it; stored to notice a wrong key at start."""
    return hmac.new(key, b"autonomous-inbox key check", sha256).digest()

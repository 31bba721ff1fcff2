"""Signatures of Standard Webhooks 1.0: an HMAC over id, time and the exact bytes, one for each secret in force."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> bytes:
    """Key material for one endpoint."""
    return secrets.token_bytes(_SECRET_BYTES)


def secret_text(key: bytes) -> str:
    """The form in which a receiver keeps a secret."""
    return PREFIX + base64.b64encode(key).decode()


def sign(*, key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """One entry of the signature header."""
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(*, keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of an attempt.

    `message_id` is the id of the event: the same at every attempt and replay, so that receivers can drop repetitions.
    `timestamp` is that of the attempt, since receivers refuse old ones. During a rotation both secrets sign.
    """
    signatures = [sign(key=key, message_id=message_id, timestamp=timestamp, body=body) for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }

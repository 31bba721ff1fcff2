"""Verify webhooks (Standard Webhooks 1.0) with nothing but the standard library.

    event = webhooks.verify(body, headers, secrets=[NEW_SECRET, OLD_SECRET])

`body` are the bytes as they came: parsing and writing JSON anew changes them.
"""

import binascii
import hashlib
import hmac
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

TOLERANCE = 300.0


class InvalidSignature(Exception):
    """The request is not proven to come from the inbox, or it is too old. Answer it with 400 and do nothing."""


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    *,
    secrets: str | Sequence[str],
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> dict[str, Any]:
    """The event, when one of the signatures is of one of the secrets over exactly these bytes, not long ago.

    While a secret is rotated the request carries a signature of each, and a receiver may know both; so several of
    either are compared. `webhook-id` is the same when a delivery is repeated: keep it to do the work once.
    """
    content = body.encode() if isinstance(body, str) else bytes(body)
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, stamp, signatures = (
            found[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
        )
    except KeyError as error:
        raise InvalidSignature(f"The header {error.args[0]} is missing.") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 15):
        raise InvalidSignature("The header webhook-timestamp is no time.")
    if abs((time.time() if now is None else now) - int(stamp)) > tolerance:
        raise InvalidSignature("The request is too old, or the clocks differ.")
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    signed = f"{message_id}.{stamp}.".encode("utf-8", "surrogateescape") + content
    expected = [b"v1," + b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    # All are compared, each in a time that does not tell how much of it was right.
    matches = [
        hmac.compare_digest(one, offered.encode("utf-8", "surrogateescape"))
        for one in expected
        for offered in signatures.split()
    ]
    if not any(matches):
        raise InvalidSignature("No signature is of a secret that is known here.")
    event: dict[str, Any] = json.loads(content)
    return event


def _key(secret: str) -> bytes:
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("A webhook secret looks like whsec_ and base64.")
    return key

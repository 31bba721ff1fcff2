"""Secrets that travel in a link to one person. 256 random bits; what is kept is the SHA-256.

They stand in the path of an address, and addresses are written down in many places. So each says by its beginning what it
is, and the logs know it wherever it turns up (`kernel.redaction`).
"""

import hashlib
import secrets

from kernel.redaction import LINK


def new_token() -> str:
    """The secret part of a new link."""
    return LINK + secrets.token_urlsafe(32)


def digest(token: str) -> bytes:
    """What is kept of it."""
    return hashlib.sha256(token.encode()).digest()

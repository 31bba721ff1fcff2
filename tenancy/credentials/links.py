"""Secrets that travel in a link to one person. 256 random bits; what is kept is the SHA-256."""

import hashlib
import secrets


def new_token() -> str:
    """The secret part of a new link."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> bytes:
    """What is kept of it."""
    return hashlib.sha256(token.encode()).digest()

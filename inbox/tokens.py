"""Signed Message-IDs and addresses: how the inbox recognises its own mail, and the entry that a reply answers (AG-1, AG-6).

A Message-ID of ours is `<entry hex>.<token>@domain`, the token an HMAC over the entry's id. Anybody may cite it, so a valid
token proves only which entry is meant; whether the sender may join that thread is asked separately.
"""

import base64
import hashlib
import hmac
import re
from uuid import UUID

from django.conf import settings

_FORM = re.compile(r"<?([0-9a-f]{32})\.([0-9a-f]{24})@[^\s<>@]+>?")


def message_id(entry_id: UUID, *, domain: str) -> str:
    """The Message-ID, with angle brackets, of an outgoing entry."""
    return f"<{entry_id.hex}.{_token(entry_id)}@{domain}>"


def own_entry(text: str) -> UUID | None:
    """The entry that a Message-ID of ours names; None for any other and for a forged one."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    entry_id = UUID(match[1])
    return entry_id if hmac.compare_digest(match[2], _token(entry_id)) else None


# RFC 5321 §4.5.3.1.1.
_LONGEST_LOCAL = 64
_TAG = re.compile(r"r([a-z2-7]{26})([a-z2-7]{16})")


def reply_address(entry_id: UUID, address: str) -> str:
    """The inbox's address with a tag that names the entry, for programs that lose ids; empty where it would be too long.

    Its letters survive whoever writes addresses in capitals.
    """
    local, _, domain = address.rpartition("@")
    tagged = f"{local}+r{_letters(entry_id.bytes)}{_mark(entry_id)}"
    return f"{tagged}@{domain}" if len(tagged) <= _LONGEST_LOCAL and "+" not in local else ""


def answered_by_address(address: str) -> UUID | None:
    """The entry that the tag of an address of ours names; None for any other and for a forged one."""
    match = _TAG.fullmatch(address.rpartition("@")[0].partition("+")[2].lower())
    if match is None:
        return None
    try:
        entry_id = UUID(bytes=base64.b32decode(f"{match[1]}======".upper()))
    except ValueError:
        return None
    return entry_id if hmac.compare_digest(match[2], _mark(entry_id)) else None


def _letters(content: bytes) -> str:
    return base64.b32encode(content).decode().rstrip("=").lower()


def _mark(entry_id: UUID) -> str:
    key = settings.REPLY_TOKEN_KEY.encode()
    return _letters(hmac.new(key, b"reply-address:" + entry_id.bytes, hashlib.sha256).digest()[:10])


def _token(entry_id: UUID) -> str:
    key = settings.REPLY_TOKEN_KEY.encode()
    return hmac.new(key, b"message-id:" + entry_id.bytes, hashlib.sha256).hexdigest()[:24]

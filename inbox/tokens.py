"""Signed Message-IDs: how the inbox recognises its own mail, and the entry that a reply answers (AG-1, AG-6).

A Message-ID of ours is `<entry hex>.<token>@domain`, the token an HMAC over the entry's id. Anybody may cite it, so a valid
token proves only which entry is meant; whether the sender may join that thread is asked separately.
"""

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


def _token(entry_id: UUID) -> str:
    key = settings.REPLY_TOKEN_KEY.encode()
    return hmac.new(key, b"message-id:" + entry_id.bytes, hashlib.sha256).hexdigest()[:24]

"""What never reaches a log line: secrets, tokens, message bodies, whole mail addresses (P7, K4)."""

import re
from collections.abc import MutableMapping
from datetime import date, timedelta
from typing import Any
from uuid import UUID

_SECRET_NAMES = re.compile(
    r"secret|password|passwd|token|authorization|cookie|api[-_]?key|signature|ciphertext", re.IGNORECASE
)
_CONTENT_NAMES = frozenset({"raw", "body", "text", "html", "content", "body_text", "body_html", "subject", "payload"})
_SECRETS = re.compile(r"\b(whsec_|sk-|mk_[a-z0-9]+_|eyJ[\w-]{10,}\.)[\w.+/=-]*")
# With what every secret begins that stands in the path of an address of ours. A path is written in many ways: as it is,
# as the parameter of another address, or in the words of an error.
LINK = "lnk_"
_LINKS = re.compile(rf"({LINK})(?:[\w.:=-]|%3[Aa])*")
_ADDRESS = re.compile(r"([\w.+-])[\w.+-]*@([\w-]+\.[\w.-]+)")


def redact_text(text: str) -> str:
    """Mask tokens, and the local part of mail addresses, inside free text."""
    return _ADDRESS.sub(r"\1…@\2", _SECRETS.sub(r"\1…", _LINKS.sub(r"\1…", text)))


def redact(value: Any, *, name: str = "") -> Any:
    """The value as it may be logged under `name`."""
    if _SECRET_NAMES.search(name):
        return "[redacted]"
    if name in _CONTENT_NAMES:
        value = f"[{len(value)} characters]" if isinstance(value, str | bytes) else "[content]"
    match value:
        case None | int() | float() | UUID() | date() | timedelta():
            return value
        case dict():
            return {key: redact(item, name=str(key)) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [redact(item) for item in value]
        case _:
            # Exceptions, models and the like: what they say of themselves is text like any other.
            is_raw = isinstance(value, bytes | bytearray | memoryview)
            return f"[{len(value)} bytes]" if is_raw else redact_text(str(value))


def redact_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor."""
    return {key: value if key.startswith("_") else redact(value, name=key) for key, value in event.items()}

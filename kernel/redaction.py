"""What never reaches a log line: secrets, tokens, message bodies, whole mail addresses (P7, K4)."""

import re
from collections.abc import MutableMapping
from typing import Any

_SECRET_NAMES = re.compile(r"secret|password|passwd|token|authorization|cookie|api[-_]?key|signature|ciphertext", re.I)
_CONTENT_NAMES = frozenset({"raw", "body", "text", "html", "content", "body_text", "body_html", "subject", "payload"})
_SECRETS = re.compile(r"(whsec_|sk-|mk_[a-z0-9]+_|eyJ[\w-]{10,}\.)[\w.+/=-]*")
_ADDRESS = re.compile(r"([\w.+-])[\w.+-]*@([\w-]+\.[\w.-]+)")


def redact_text(text: str) -> str:
    """Mask tokens, and the local part of mail addresses, inside free text."""
    return _ADDRESS.sub(r"\1…@\2", _SECRETS.sub(r"\1…", text))


def redact(value: Any, *, name: str = "") -> Any:
    """The value as it may be logged under `name`."""
    if _SECRET_NAMES.search(name):
        return "[redacted]"
    if name in _CONTENT_NAMES:
        return f"[{len(value)} characters]" if isinstance(value, str | bytes) else "[content]"
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {key: redact(item, name=str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def redact_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor."""
    return {key: redact(value, name=key) for key, value in event.items()}

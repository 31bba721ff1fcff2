"""What a subscription may hold."""

import re
from collections.abc import Mapping

from kernel import http
from kernel.errors import Invalid

_MAX_URL = 2_000
_MAX_HEADERS = 20
_MAX_HEADER_VALUE = 2_000
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
# Ours to set, or the connection's (RFC 9110, 7.6.1).
_RESERVED = frozenset(
    {
        "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    }
)  # fmt: skip


def url(text: str) -> str:
    """A URL that may be called. No name is looked up here; every attempt looks again anyway."""
    if len(text) > _MAX_URL:
        raise Invalid(f"The URL may have at most {_MAX_URL} characters.", pointer="/url")
    try:
        http.check_url(text)
    except http.AddressRefused as error:
        raise http.AddressRefused(error.detail, pointer="/url") from error
    return text


def headers(given: Mapping[str, str]) -> dict[str, str]:
    """Headers that a receiver may ask for, an Authorization among them; none that signatures or the connection need."""
    if len(given) > _MAX_HEADERS:
        raise Invalid(f"At most {_MAX_HEADERS} headers can be added.", pointer="/headers")
    for name, value in given.items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(name) or lower in _RESERVED or lower.startswith("webhook-"):
            raise Invalid(f"The header {name[:100]!r} cannot be set here.", pointer="/headers")
        if len(value) > _MAX_HEADER_VALUE or not _HEADER_VALUE.fullmatch(value):
            raise Invalid(f"The value of {name} must be one line of visible ASCII.", pointer="/headers")
    return dict(given)


def rate(per_second: int | None) -> int | None:
    """Requests a second, or none of our business."""
    if per_second is not None and not 1 <= per_second <= 10_000:
        raise Invalid("The rate must be from 1 to 10,000 a second, or null for none.", pointer="/rate_per_second")
    return per_second

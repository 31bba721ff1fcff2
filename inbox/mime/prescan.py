"""A look at the bytes before anything is parsed: which mails get the full treatment, and which are bombs.

Counting is a few passes of memchr-like speed. What it cannot count cheaply in a large mail, the walk over
the parts counts again (limits.parts, limits.depth, limits.boundary_candidates).
"""

from __future__ import annotations

import re

import msgspec

from inbox.mime.headers import header_end
from inbox.mime.limits import Limits
from inbox.mime.types import Status

_ADDRESS_FIELDS = re.compile(rb"^(?:to|cc|bcc|from|reply-to)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_BOUNDARY = re.compile(rb"boundary[*0-9]{0,4}[ \t]*=", re.IGNORECASE)
_NESTED = re.compile(rb"message/(?:rfc822|global)", re.IGNORECASE)
_WINDOW = 64 * 1024
_DEEP_WINDOW = 4 * 1024 * 1024


class Scan(msgspec.Struct, frozen=True):
    """`reason` says why the mail is quarantined (nothing but its header is read) or read in part."""

    verdict: Status
    reason: str | None
    header_end: int


def prescan(raw: bytes, limits: Limits) -> Scan:
    _, body = header_end(raw, 0, len(raw))
    bomb = _bomb(raw, limits)
    if bomb is not None:
        return Scan("quarantined", bomb, body)
    return _verdict(_excess(raw, body, limits), body)


def _verdict(reason: str | None, body: int) -> Scan:
    return Scan("parsed" if reason is None else "parsed_partial", reason, body)


def _bomb(raw: bytes, limits: Limits) -> str | None:
    """Structure that no mail program makes: the cheap counts first, the exact ones only where they could matter."""
    lines = raw.count(b"\n--", 0, _WINDOW)
    if lines <= limits.quarantine_depth:
        return None
    lines = raw.count(b"\n--")
    if lines > limits.quarantine_boundaries:
        return f"{lines} boundary lines"
    depth = sum(1 for _ in _BOUNDARY.finditer(raw, 0, _DEEP_WINDOW))
    return f"{depth} multiparts declared" if depth > limits.quarantine_depth else None


def _excess(raw: bytes, body: int, limits: Limits) -> str | None:
    """Too much of something to read all of it."""
    if len(raw) > limits.size:
        return f"larger than {limits.size} bytes"
    if body > limits.header_bytes:
        return f"a header of more than {limits.header_bytes} bytes"
    if raw.count(b"=?", 0, body) > limits.encoded_words:
        return f"more than {limits.encoded_words} encoded words in the header"
    if raw.count(b",", 0, body) > limits.commas and _ADDRESS_FIELDS.search(raw, 0, body):
        return f"more than {limits.commas} commas in the header"
    nested = sum(1 for _ in _NESTED.finditer(raw, 0, _WINDOW)) if raw.find(b"essage/", 0, _WINDOW) >= 0 else 0
    return f"{nested} messages within messages" if nested > limits.nested_messages else None

"""The header block: fields in order, first one wins, one character per byte until decoded.

Fields stay `str` through latin-1, so that regular expressions and slicing work and no byte is lost.
"""

from __future__ import annotations

import re

from inbox.mime.limits import Limits

# RFC 5322 §2.2: a name is printable US-ASCII without colon; §4.5 allows white space before the colon.
_FIELD = re.compile(r"([!-9;-~]+)[ \t]*:((?:[^\n]*)(?:\n[ \t][^\n]*)*)\n?")
_KNOWN_LATER = re.compile(
    r"^(?:from|to|cc|subject|date|message-id|mime-version|content-type|content-transfer-encoding|received"
    r"|return-path|reply-to|sender|in-reply-to|references|x-[a-z-]+|dkim-signature|content-disposition)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(rb"\n\r?\n")


class Header:
    """A parsed block. `first` maps lower-case names to the first raw value."""

    __slots__ = ("body_start", "fields", "first", "last_type", "truncated")

    def __init__(self) -> None:
        self.fields: list[tuple[str, str]] = []
        self.first: dict[str, str] = {}
        self.last_type: str | None = None
        self.body_start = 0
        self.truncated = False

    def get(self, name: str) -> str:
        return self.first.get(name, "")

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key.lower() == name]


def read_header(raw: bytes, start: int, end: int, limits: Limits) -> Header:
    """The block that starts at `start`; `body_start` is where its body begins."""
    header = Header()
    if raw[start : start + 1] == b"\n" or raw[start : start + 2] == b"\r\n":
        header.body_start = start + (1 if raw[start : start + 1] == b"\n" else 2)
        return header
    match = _END.search(raw, start, end)
    stop = match.start() + 1 if match else end
    header.body_start = match.end() if match else end
    if stop - start > limits.header_bytes:
        header.truncated = True
        stop = raw.rfind(b"\n", start, start + limits.header_bytes) + 1 or start + limits.header_bytes
    _fill(header, raw[start:stop].decode("latin-1"), start, limits)
    return header


def _fill(header: Header, block: str, offset: int, limits: Limits) -> None:
    unix = block.replace("\r\n", "\n") if "\r" in block else block
    position = junk = 0
    while position < len(unix):
        match = _FIELD.match(unix, position)
        if match is not None:
            position = match.end()
            if len(header.fields) >= limits.header_fields:
                header.truncated = True
                return
            _add(header, match[1], match[2], limits)
            continue
        junk += 1
        after = unix.find("\n", position) + 1 or len(unix)
        if _is_body(unix, position, after, junk):
            header.body_start = offset + _original(block, unix, position)
            return
        position = after


def _is_body(block: str, position: int, after: int, junk: int) -> bool:
    """A line that is no field: the blank line before the body is missing, unless more fields follow."""
    if block[position : position + 5] in {"From ", ">From"} and position == 0:
        return False
    return junk > 10 or _KNOWN_LATER.search(block, after) is None  # noqa: PLR2004 - enough to call it a body


def _original(with_returns: str, without: str, position: int) -> int:
    return position if with_returns is without else position + without.count("\n", 0, position)


def _add(header: Header, name: str, value: str, limits: Limits) -> None:
    if "\n" in value:
        value = value.replace("\n\t", " ").replace("\n", "")
    if len(value) > limits.header_value:
        value = value[: limits.header_value]
        header.truncated = True
    value = value.strip(" \t\r\x00")
    header.fields.append((name, value))
    key = name.lower()
    if key == "content-type":
        header.last_type = value
    header.first.setdefault(key, value)

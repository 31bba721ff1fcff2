"""The header block: fields in order, first one wins, one character per byte until decoded.

Fields stay `str` through latin-1, so that regular expressions and slicing work and no byte is lost.
"""

from __future__ import annotations

import re

from inbox.mime.limits import Limits

# RFC 5322 §2.2: a name is printable US-ASCII without colon; §4.5 allows white space before the colon.
_NAME = re.compile(r"[!-9;-~]+[ \t]*")
_KNOWN_LATER = re.compile(
    r"^(?:from|to|cc|subject|date|message-id|mime-version|content-type|content-transfer-encoding|received"
    r"|return-path|reply-to|sender|in-reply-to|references|x-[a-z-]+|dkim-signature|content-disposition)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_JUNK = 10


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


def header_end(raw: bytes, start: int, end: int) -> tuple[int, int]:
    """Where the fields end and where the body begins; the first empty line has either kind of line end."""
    windows = raw.find(b"\n\r\n", start, end)
    unix = raw.find(b"\n\n", start, end if windows < 0 else windows)
    if unix >= 0:
        return unix + 1, unix + 2
    return (windows + 1, windows + 3) if windows >= 0 else (end, end)


def read_header(raw: bytes, start: int, end: int, limits: Limits) -> Header:
    """The block that starts at `start`; `body_start` is where its body begins."""
    header = Header()
    if raw[start : start + 1] == b"\n" or raw[start : start + 2] == b"\r\n":
        header.body_start = start + (1 if raw[start : start + 1] == b"\n" else 2)
        return header
    stop, header.body_start = header_end(raw, start, end)
    if stop - start > limits.header_bytes:
        header.truncated = True
        stop = raw.rfind(b"\n", start, start + limits.header_bytes) + 1 or start + limits.header_bytes
    _fill(header, raw[start:stop].decode("latin-1"), start, limits)
    return header


def _fill(header: Header, block: str, offset: int, limits: Limits) -> None:
    """Unfold all (RFC 5322 §2.2.3), then one field a line; a line that is none is skipped or starts the body."""
    unix = block.replace("\r\n", "\n") if "\r" in block else block
    lines = unix.replace("\n\t", " ").replace("\n ", " ").split("\n")
    junk = 0
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and (name.replace("-", "").isalnum() or _NAME.fullmatch(name)):
            if len(header.fields) >= limits.header_fields:
                header.truncated = True
                return
            _add(header, name.rstrip(), value, limits)
        elif line.strip() and not (junk == 0 and not header.fields and line.startswith(("From ", ">From "))):
            junk += 1
            position = _position(unix, line)
            if _is_body(unix, position, junk):
                header.body_start = offset + position + block.count("\r\n", 0, position)
                return


def _position(unix: str, line: str) -> int:
    """Where an unfolded line that is no field begins in the block: its first piece is verbatim."""
    found = unix.find("\n" + line[:200])
    return 0 if unix.startswith(line[:200]) else found + 1 if found >= 0 else len(unix)


def _is_body(unix: str, position: int, junk: int) -> bool:
    """The empty line before the body is missing, unless well-known fields follow."""
    return junk > _MAX_JUNK or _KNOWN_LATER.search(unix, unix.find("\n", position) + 1 or len(unix)) is None


def _add(header: Header, name: str, value: str, limits: Limits) -> None:
    if len(value) > limits.header_value:
        value = value[: limits.header_value]
        header.truncated = True
    value = value.strip(" \t\r\x00")
    header.fields.append((name, value))
    key = name.lower()
    if key == "content-type":
        header.last_type = value
    header.first.setdefault(key, value)

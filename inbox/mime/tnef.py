"""winmail.dat (MS-OXTNEF): the body and the files that Outlook hid in one attachment.

Own reader, since the library for it copies the rest of the file for each attribute and trusts counts of
four thousand million: a small attachment would cost the whole mail its time.
"""

from __future__ import annotations

import msgspec

from inbox.mime.charsets import decode, meta_charset
from inbox.mime.rtf import decompress_rtf, rtf_to_html_or_text
from inbox.mime.sanitise import body_text

SIGNATURE = b"\x78\x9f\x3e\x22"
_BODY, _TITLE, _DATA, _MAPI, _RENDERING, _ATTACHMENT, _CODEPAGE = 0x800C, 0x8010, 0x800F, 0x9003, 0x9002, 0x9005, 0x9007
_TEXT, _RTF, _HTML, _INTERNET_CODEPAGE = 0x1000, 0x1009, 0x1013, 0x3FDE
_DISPLAY_NAME, _SHORT_NAME, _LONG_NAME = 0x3001, 0x3704, 0x3707
_CONTENT, _MIME_TAG, _CONTENT_ID = 0x3701, 0x370E, 0x3712
_NAMED, _MULTIPLE = 0x8000, 0x1000
_FIXED = {0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0A: 4, 0x0B: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_INTEGER, _OBJECT, _STRING, _UNICODE, _BINARY = 0x03, 0x0D, 0x1E, 0x1F, 0x102
_VARIABLE = frozenset({_OBJECT, _STRING, _UNICODE, _BINARY})
_INTERFACE_ID = 16
_UTF8_PAGE = 65001
_MAX_FILES = 500


class TnefFile(msgspec.Struct, frozen=True):
    filename: str | None
    content: bytes
    content_type: str | None = None
    content_id: str | None = None


class TnefContent(msgspec.Struct, frozen=True):
    text: str
    html: str
    files: list[TnefFile]


class _BrokenTnefError(Exception):
    """A length points outside the data, or a type is unknown."""


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        start, self.position = self.position, self.position + count
        if self.position > len(self.data):
            raise _BrokenTnefError
        return self.data[start : self.position]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def padded(self) -> bytes:
        """A counted value, padded to four bytes (MS-OXTNEF §2.1.3.4)."""
        length = self.number(4)
        value = self.take(length)
        self.position = min(self.position + -length % 4, len(self.data))
        return value

    @property
    def more(self) -> bool:
        return self.position < len(self.data)


def read_tnef(data: bytes) -> TnefContent | None:
    """None when it is broken: the caller then keeps the winmail.dat as it came (ZM-1)."""
    if not data.startswith(SIGNATURE):
        return None
    try:
        message, files = _attributes(_Cursor(data))
    except _BrokenTnefError:
        return None
    content = TnefContent(*_bodies(message), [found for item in files if (found := _file(item)) is not None])
    return content if content.text or content.html or content.files else None


class _Properties:
    """Values of the message or of one attachment, by property id; strings are already text."""

    def __init__(self, codepage: str | None) -> None:
        self.codepage = codepage
        self.values: dict[int, bytes | str | int] = {}

    def text(self, *names: int) -> str:
        for name in names:
            value = self.values.get(name)
            if isinstance(value, bytes):
                return decode(value.rstrip(b"\x00"), self.codepage or meta_charset(value))[0]
            if isinstance(value, str):
                return value.rstrip("\x00")
        return ""


def _attributes(cursor: _Cursor) -> tuple[_Properties, list[_Properties]]:
    cursor.take(len(SIGNATURE) + 2)
    message = _Properties(None)
    files: list[_Properties] = []
    while cursor.more:
        cursor.take(1)
        name, _, length = cursor.number(2), cursor.number(2), cursor.number(4)
        data = cursor.take(length)
        cursor.take(2)
        if name == _CODEPAGE:
            message.codepage = _page_name(int.from_bytes(data[:4], "little"))
        elif name == _RENDERING and len(files) < _MAX_FILES:
            files.append(_Properties(message.codepage))
        else:
            _attribute(name, data, message, files)
    return message, files


def _attribute(name: int, data: bytes, message: _Properties, files: list[_Properties]) -> None:
    if name == _BODY:
        message.values.setdefault(_TEXT, data)
    elif name == _MAPI:
        _read_properties(data, message)
    elif files and name == _TITLE:
        files[-1].values.setdefault(_SHORT_NAME, data)
    elif files and name == _DATA:
        files[-1].values[_CONTENT] = data
    elif files and name == _ATTACHMENT:
        _read_properties(data, files[-1])


def _read_properties(data: bytes, into: _Properties) -> None:
    cursor = _Cursor(data)
    for _ in range(cursor.number(4)):
        kind, name = cursor.number(2), cursor.number(2)
        if name >= _NAMED:
            cursor.take(16)
            if cursor.number(4) == 0:
                cursor.take(4)
            else:
                cursor.padded()
        _value(cursor, kind, name, into)


def _value(cursor: _Cursor, kind: int, name: int, into: _Properties) -> None:
    multiple = bool(kind & _MULTIPLE)
    kind &= ~_MULTIPLE
    if kind in _FIXED:
        for _ in range(cursor.number(4) if multiple else 1):
            value = cursor.take(_FIXED[kind])
            if kind == _INTEGER:
                into.values[name] = int.from_bytes(value, "little")
        return
    if kind not in _VARIABLE:
        raise _BrokenTnefError
    for _ in range(cursor.number(4)):
        value = cursor.padded()
        if kind == _UNICODE:
            into.values[name] = value.decode("utf-16-le", "replace")
        else:
            into.values[name] = value[_INTERFACE_ID:] if kind == _OBJECT and name == _CONTENT else value


def _page_name(number: int) -> str:
    return "utf-8" if number == _UTF8_PAGE else f"cp{number}"


def _bodies(message: _Properties) -> tuple[str, str]:
    page = message.values.get(_INTERNET_CODEPAGE)
    if isinstance(page, int):
        message.codepage = _page_name(page)
    text, html = message.text(_TEXT), message.text(_HTML)
    compressed = message.values.get(_RTF)
    if isinstance(compressed, bytes) and not html:
        html, from_rtf = rtf_to_html_or_text(decompress_rtf(compressed))
        text = text or from_rtf
    return body_text(text).strip("\n"), body_text(html)


def _file(item: _Properties) -> TnefFile | None:
    """The long name in Unicode before the short one in the code page."""
    content = item.values.get(_CONTENT)
    if not isinstance(content, bytes) or not content:
        return None
    name = item.text(_LONG_NAME, _SHORT_NAME, _DISPLAY_NAME).strip()
    mime_tag = item.text(_MIME_TAG).strip().lower()
    return TnefFile(name or None, content, mime_tag or None, item.text(_CONTENT_ID).strip("<> ") or None)

"""Compressed RTF (MS-OXRTFCP) and the HTML or text inside RTF (MS-OXRTFEX), as far as mail bodies need it."""

from __future__ import annotations

import re
import struct

from inbox.mime.charsets import codec_name

_HEADER = struct.Struct("<LLLL")
_COMPRESSED, _UNCOMPRESSED = 0x75465A4C, 0x414C454D
_WINDOW = 4096
_MAX_OUT = 1024 * 1024
_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbol"
    rb"ArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n" + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+")
_SKIPPED = frozenset(
    {
        b"fonttbl",
        b"colortbl",
        b"stylesheet",
        b"info",
        b"pict",
        b"object",
        b"themedata",
        b"generator",
        b"filetbl",
        b"listtable",
    }
)
_BREAKS = frozenset({b"par", b"line", b"row", b"sect", b"page"})
_SYMBOLS = {
    b"tab": "\t",
    b"emdash": "\u2014",
    b"endash": "\u2013",
    b"lquote": "\u2018",
    b"rquote": "\u2019",
    b"ldblquote": "\u201c",
    b"rdblquote": "\u201d",
    b"bullet": "\u2022",
}
_MAX_TOKENS = 400_000


def decompress_rtf(data: bytes) -> bytes:
    """LZFu: a 4 KiB ring that starts with a fixed dictionary; references are offset (12 bits) and length (4 bits)."""
    if len(data) < _HEADER.size:
        return b""
    _, raw_size, kind, _ = _HEADER.unpack_from(data)
    if kind == _UNCOMPRESSED:
        return data[_HEADER.size : _HEADER.size + raw_size]
    if kind != _COMPRESSED:
        return b""
    ring = bytearray(_DICTIONARY.ljust(_WINDOW, b"\x00"))
    return bytes(_expand(data, ring, min(raw_size, _MAX_OUT)))


def _expand(data: bytes, ring: bytearray, size: int) -> bytearray:
    out = bytearray()
    write = len(_DICTIONARY)
    position = _HEADER.size
    while position < len(data) and len(out) < size:
        control = data[position]
        position += 1
        for bit in range(8):
            if position >= len(data):
                return out
            if not control >> bit & 1:
                piece = data[position : position + 1]
                position += 1
            elif position + 1 >= len(data):
                return out
            else:
                token = int.from_bytes(data[position : position + 2], "big")
                position += 2
                offset = token >> 4
                if offset == write:
                    return out
                piece, write = _copy(ring, offset, (token & 15) + 2, write)
                out += piece
                continue
            ring[write] = piece[0]
            write = (write + 1) % _WINDOW
            out += piece
    return out


def _copy(ring: bytearray, offset: int, length: int, write: int) -> tuple[bytes, int]:
    """Byte by byte, because a reference may read what it is writing."""
    piece = bytearray()
    for step in range(length):
        byte = ring[(offset + step) % _WINDOW]
        ring[write] = byte
        write = (write + 1) % _WINDOW
        piece.append(byte)
    return bytes(piece), write


def rtf_to_html_or_text(rtf: bytes) -> tuple[str, str]:
    """(html, text): `\\fromhtml` documents carry their HTML in `\\htmltag` groups; others are text."""
    if not rtf.startswith(b"{\\rtf"):
        return "", ""
    reader = _Reader(b"\\fromhtml" in rtf[:400])
    reader.read(rtf)
    out = "".join(reader.out)
    return (out, "") if reader.html else ("", out.strip())


class _Reader:
    """One pass over the tokens with an explicit stack of groups: (skipped, inside an htmltag, RTF-only)."""

    def __init__(self, html: bool) -> None:
        self.html = html
        self.out: list[str] = []
        self.stack: list[tuple[bool, bool, bool]] = []
        self.skip = self.tag = self.rtf_only = False
        self.codec = "cp1252"
        self.pending = bytearray()
        self.ignore = 0
        self.star = False

    def read(self, rtf: bytes) -> None:
        for count, match in enumerate(_TOKEN.finditer(rtf)):
            if count > _MAX_TOKENS:
                break
            word, number, code, symbol, brace, text = match.groups()
            if code is not None:
                self.byte(int(code, 16))
                continue
            self.flush()
            if word is not None:
                self.word(word, number)
            elif symbol is not None:
                self.symbol(symbol)
            elif brace is not None:
                self.brace(brace)
            elif text is not None:
                self.text(text)
        self.flush()

    def visible(self) -> bool:
        return not self.skip and not (self.html and self.rtf_only and not self.tag)

    def byte(self, value: int) -> None:
        if self.ignore:
            self.ignore -= 1
        elif self.visible():
            self.pending.append(value)

    def flush(self) -> None:
        if self.pending:
            self.out.append(self.pending.decode(self.codec, "replace"))
            self.pending.clear()

    def text(self, text: bytes) -> None:
        if self.ignore:
            text, self.ignore = text[self.ignore :], max(0, self.ignore - len(text))
        if self.visible():
            self.out.append(text.decode(self.codec, "replace"))

    def symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self.star = True
        elif self.visible():
            self.out.append({b"~": "\xa0", b"_": "-", b"-": ""}.get(symbol, symbol.decode("latin-1")).strip("\r\n"))

    def brace(self, brace: bytes) -> None:
        self.star = False
        if brace == b"{":
            self.stack.append((self.skip, self.tag, self.rtf_only))
        elif self.stack:
            self.skip, self.tag, self.rtf_only = self.stack.pop()

    def word(self, word: bytes, number: bytes | None) -> None:
        starred, self.star = self.star, False
        if word == b"htmltag":
            self.tag = True
        elif word in _SKIPPED or (starred and word != b"htmltag"):
            self.skip = True
        elif word == b"htmlrtf":
            self.rtf_only = number != b"0"
        elif word == b"ansicpg" and number:
            self.codec = codec_name(f"cp{int(number)}") or "cp1252"
        elif self.visible():
            self.character(word, number)

    def character(self, word: bytes, number: bytes | None) -> None:
        if word in _BREAKS:
            self.out.append("\n")
        elif word == b"u" and number:
            code = int(number) % 65536
            self.out.append(chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd")
            self.ignore = 1
        elif word in _SYMBOLS:
            self.out.append(_SYMBOLS[word])

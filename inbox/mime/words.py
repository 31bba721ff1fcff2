"""RFC 2047 encoded words, read the way mail is written rather than the way it should be."""

from __future__ import annotations

import binascii
import re

from inbox.mime.charsets import codec_name, decode
from inbox.mime.sanitise import header_text, without_surrogates

# Up to three stray "?" inside a word: some senders leave them unencoded in Q. Bounded, so a flood stays linear.
_WORD = re.compile(r"=\?([^?\s]{0,60})\?([bBqQ])\?([^?]*(?:\?(?!=)[^?]{0,200}){0,3}?)\?=")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


def raw_text(value: str, hint: str | None = None) -> str:
    """Header text from the byte-per-character form: RFC 6532 UTF-8 first, then the ladder."""
    if value.isascii():
        return value
    return decode(value.encode("latin-1", "replace"), None, hint)[0]


def decode_words(value: str, hint: str | None = None, *, limit: int = 2_000) -> str:
    """Decoded text of an unfolded field body given one character per byte.

    White space between adjacent words vanishes (§6.2), and adjacent words of one charset are joined as
    bytes first, since senders split multibyte characters between them (against §5 rule 3).
    """
    if "=?" not in value:
        return header_text(raw_text(value, hint))
    pieces: list[str] = []
    pending: list[tuple[str, str]] = []
    charset = ""
    end = 0
    for count, match in enumerate(_WORD.finditer(value)):
        if count >= limit:
            break
        between = value[end : match.start()]
        name = match[1].partition("*")[0].lower()
        if pending and (name != charset or between.strip(" \t")):
            pieces.append(_flush(pending, charset, hint))
        if between.strip(" \t") or not end:
            pieces.append(raw_text(between, hint))
        charset = name
        pending.append((match[2].lower(), match[3]))
        end = match.end()
    if pending:
        pieces.append(_flush(pending, charset, hint))
    pieces.append(raw_text(value[end:], hint))
    return header_text(without_surrogates("".join(pieces)))


def _flush(pending: list[tuple[str, str]], charset: str, hint: str | None) -> str:
    """Joined first; words that only decode alone (each with its own shift state or byte mark) are read alone."""
    words = _payloads(pending)
    pending.clear()
    text, _, declared = decode(b"".join(words), charset, hint)
    if declared or len(words) == 1 or codec_name(charset) is None:
        return text
    return "".join(decode(word, charset, hint)[0] for word in words)


def _payloads(pending: list[tuple[str, str]]) -> list[bytes]:
    """Some senders cut base64 anywhere: a word that ends inside a group of four goes on in the next one."""
    merged: list[tuple[str, str]] = []
    for encoding, text in pending:
        if merged and encoding == merged[-1][0] == "b" and len(merged[-1][1]) % 4 and not merged[-1][1].endswith("="):
            merged[-1] = ("b", merged[-1][1] + text)
        else:
            merged.append((encoding, text))
    return [_payload(encoding, text) for encoding, text in merged]


def _payload(encoding: str, text: str) -> bytes:
    data = text.encode("latin-1", "replace")
    if encoding == "q":
        return binascii.a2b_qp(data.replace(b"_", b" "), header=False) if b"=" in data else data.replace(b"_", b" ")
    return lenient_base64(data)


def lenient_base64(data: bytes) -> bytes:
    """Base64 with stray characters skipped and missing padding supplied (RFC 2045 §6.8 asks to ignore them)."""
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        clean = _NOT_BASE64.sub(b"", data.partition(b"=")[0])
        if len(clean) % 4 == 1:
            clean = clean[:-1]
        return binascii.a2b_base64(clean + b"=" * (-len(clean) % 4))

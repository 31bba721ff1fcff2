"""Content-Transfer-Encoding (RFC 2045 §6) undone, leniently and in linear time."""

from __future__ import annotations

import binascii
import re

from fast_mail_parser import ParseError, parse_email

from inbox.mime.words import lenient_base64

QUOTED_PRINTABLE = "quoted-printable"
_LARGE = 16 * 1024
_SAMPLE = 400
_IDENTITY = frozenset({"7bit", "8bit", "binary"})
_FRAME = b"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\n"
_UU_BEGIN = re.compile(rb"^begin [0-7]{3,4} ([^\r\n]{1,255})\r?\n", re.MULTILINE)
_UU_END = re.compile(rb"^end[ \t]*\r?$", re.MULTILINE)
_UTF8_LETTER = re.compile(
    rb"=(?:C[2-9A-F]|D[0-9A-F]|E[0-9A-F]=[89AB][0-9A-F]|F[0-4]=[89AB][0-9A-F]=[89AB][0-9A-F])=[89AB][0-9A-F]"
)
_EQUALS = re.compile(rb"=(?![0-9A-F]{2}|\r?\n|$)")
_PADDED = re.compile(rb"\s*(?:[A-Za-z0-9+/]+[ \t]*\r?\n)*[A-Za-z0-9+/]*={1,2}[ \t]*(?:\r?\n|\Z)")
# A letter that base64 has not, or a word behind a word.
_HARD_END = re.compile(rb"[^A-Za-z0-9+/=\s]|\S[ \t]+\S")


def decode_transfer(raw: bytes, start: int, end: int, encoding: str) -> tuple[bytes, str | None]:
    """The octets, and a remark when they were not what the encoding promises; unknown encodings pass as they are."""
    if encoding == "base64" and end - start >= _LARGE:
        fast = _fast_base64(raw, start, end)
        if fast is not None:
            return fast, None
    data = raw[start:end]
    if not encoding or encoding in _IDENTITY:
        return data, None
    if encoding == QUOTED_PRINTABLE:
        return binascii.a2b_qp(data), None
    if encoding == "base64":
        return _base64(data)
    if encoding in {"x-uuencode", "uuencode", "x-uue", "uue"}:
        return _uuencoded(data)
    return data, f"transfer: unknown encoding {encoding[:40]!r} read as 8bit"


def is_quoted_printable(data: bytes, encoding: str) -> bool:
    """Whether a text of seven bits plainly is: no = means itself, and there are letters beyond ASCII in UTF-8.

    A text that merely speaks of it has other signs of equality as well, and an address in it has no such letters.
    """
    if encoding not in {"", "7bit"} or _UTF8_LETTER.search(data) is None or _EQUALS.search(data) or not data.isascii():
        return False
    try:
        binascii.a2b_qp(data).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _base64(data: bytes) -> tuple[bytes, str | None]:
    if _HARD_END.search(data, 0, _SAMPLE) is None:
        try:
            return binascii.a2b_base64(data), None
        except binascii.Error:
            pass
    return _damaged(data)


def _fast_base64(raw: bytes, start: int, end: int) -> bytes | None:
    """The Rust decoder is several times as fast; its answer counts only when its length leaves no letter out."""
    expected = _decoded_length(raw, start, end)
    if expected is None:
        return None
    try:
        parts = parse_email(b"".join((_FRAME, memoryview(raw)[start:end]))).attachments
    except ParseError:
        return None
    if len(parts) != 1:
        return None
    content = parts[0].content
    return content if len(content) == expected else None


def _decoded_length(raw: bytes, start: int, end: int) -> int | None:
    """From the first line's width when all lines are equally long, as every encoder makes them; else by counting."""
    while end > start and raw[end - 1] in b"\r\n ":
        end -= 1
    padding = 2 if raw[end - 2 : end] == b"==" else int(raw[end - 1 : end] == b"=")
    first = raw.find(b"\n", start, min(end, start + _SAMPLE))
    if first < 0:
        letters = end - start
    else:
        width, line_end = first + 1 - start, 2 if raw[first - 1 : first] == b"\r" else 1
        letters = end - start - (end - start - 1) // width * line_end
    if letters % 4:
        letters = end - start - raw.count(b"\n", start, end) - raw.count(b"\r", start, end)
    return None if letters % 4 else letters // 4 * 3 - padding


def _damaged(data: bytes) -> tuple[bytes, str | None]:
    """Not base64 at all: the text as it is (an unencoded body under the wrong name); else what can be saved."""
    whole = _PADDED.match(data)
    if whole is not None and len(b"".join(whole[0].split())) % 4 == 0:  # a list has put its own words below it
        return lenient_base64(whole[0]), "transfer: base64 with something else behind it, read to its end"
    sample = data[:_SAMPLE]
    letters = sum(len(line) for line in sample.split() if _HARD_END.search(line) is None and len(line) % 4 == 0)
    if letters * 2 < len(sample.strip()) and b" " in sample.strip():
        return data, "transfer: base64 declared, but the body is plain; kept as it is"
    return lenient_base64(data), "transfer: damaged base64, read as far as it goes"


def _uuencoded(data: bytes) -> tuple[bytes, str | None]:
    begin = _UU_BEGIN.search(data)
    end = _UU_END.search(data, begin.end()) if begin is not None else None
    if begin is None or end is None:
        return data, "transfer: uuencode without a block"
    content = _uu_lines(data[begin.end() : end.start()])
    return (content, None) if content is not None else (data, "transfer: damaged uuencode, kept as it is")


def _uu_lines(data: bytes) -> bytes | None:
    out = []
    for line in data.splitlines():
        if not line.strip():
            continue
        try:
            out.append(binascii.a2b_uu(line))
        except binascii.Error:
            try:
                out.append(binascii.a2b_uu(line[: (((line[0] - 32) & 63) * 4 + 5) // 3]))
            except binascii.Error:
                return None
    return b"".join(out) if out else None

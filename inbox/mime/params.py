"""Parameters of Content-Type and Content-Disposition (RFC 2045 §5.1, RFC 2231 §3-4), as senders really write them."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from inbox.mime.charsets import decode
from inbox.mime.words import decode_words

_PAIR = re.compile(
    r"[;\s]*([^\s=;\"()<>]+)[ \t]*=[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"?|([^;\"]*))",
)
_CONTINUED = re.compile(r"(.+?)\*(\d{1,3})(\*?)")
_COMMENT = re.compile(r"\([^()]*\)")
_TOKEN = re.compile(r"[!#$%&'+.^_`|~0-9A-Za-z*{}-]+/?[!#$%&'+.^_`|~0-9A-Za-z*{}-]*")
_MISSING_SEMICOLON = re.compile(r"\s+(?=[\w.*-]+=)")
_MAX_PAIRS = 100
_FREE_TEXT = frozenset({"name", "filename"})


def split_value(value: str) -> tuple[str, dict[str, str]]:
    """The lower-case main value and the raw parameters; the first of two equal names counts."""
    head, separator, rest = value.partition(";")
    if not separator and "=" in head:
        pieces = _MISSING_SEMICOLON.split(value, maxsplit=1)
        head, rest = (pieces[0], pieces[1]) if len(pieces) > 1 else (head, "")
    if "(" in head:
        head = _COMMENT.sub("", head)
    match = _TOKEN.search(head)
    main = match[0].lower() if match else ""
    return main, _pairs(rest) if "=" in rest else {}


def _pairs(rest: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    for _ in range(_MAX_PAIRS):
        match = _PAIR.match(rest, position)
        if match is None:
            position = rest.find(";", position) + 1
            if not position:
                break
            continue
        position = match.end()
        found.setdefault(match[1].lower(), _value(match[1].lower(), match[2], match[3]))
    return found


def _value(name: str, quoted: str | None, bare: str | None) -> str:
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted) if "\\" in quoted else quoted
    bare = (bare or "").strip()
    if name.partition("*")[0] in _FREE_TEXT:
        return bare
    return _COMMENT.sub("", bare).strip().partition(" ")[0].partition("\t")[0]


def parameter(pairs: dict[str, str], name: str, hint: str | None = None) -> str | None:
    """One decoded parameter: `name*` and continuations before the plain one (RFC 2231, RFC 6266 §4.3)."""
    if not pairs:
        return None
    extended = _extended(pairs, name, hint)
    if extended is not None:
        return extended
    plain = pairs.get(name)
    return None if plain is None else decode_words(plain, hint)


def _extended(pairs: dict[str, str], name: str, hint: str | None) -> str | None:
    whole = pairs.get(f"{name}*")
    if whole is not None:
        charset, data = _charset_and_bytes(whole)
        return decode(data, charset, hint)[0]
    pieces: dict[int, tuple[str, bool]] = {}
    for key, value in pairs.items():
        match = _CONTINUED.fullmatch(key)
        if match is not None and match[1] == name:
            pieces[int(match[2])] = (value, bool(match[3]))
    return _joined(pieces, hint) if pieces else None


def _joined(pieces: dict[int, tuple[str, bool]], hint: str | None) -> str:
    """Sections are joined as bytes before decoding: senders cut between the bytes of one character."""
    charset: str | None = None
    data = bytearray()
    for count, index in enumerate(sorted(pieces)):
        value, encoded = pieces[index]
        if encoded and count == 0:
            charset, piece = _charset_and_bytes(value)
        else:
            piece = unquote_to_bytes(value) if encoded else value.encode("latin-1", "replace")
        data += piece
    joined = bytes(data)
    if charset is None and b"=?" in joined:
        return decode_words(joined.decode("latin-1"), hint)
    return decode(joined, charset, hint)[0]


def _charset_and_bytes(value: str) -> tuple[str | None, bytes]:
    """`charset'language'text`; a value without the two quotes has no charset and is only percent-encoded."""
    pieces = value.split("'", 2)
    if len(pieces) < 3:
        return None, unquote_to_bytes(value.encode("latin-1", "replace"))
    return pieces[0].strip().strip('"') or None, unquote_to_bytes(pieces[2].encode("latin-1", "replace"))

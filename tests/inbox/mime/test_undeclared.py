"""Mail that does not say how it is written, or says it in one place only."""

from __future__ import annotations

import pytest

from inbox.mime.parsing import parse

WORDS = {
    "iso-8859-2": "Proszę o fakturę: żółć",
    "windows-1250": "Příliš žluťoučký kůň",
    "windows-1254": "Teşekkürler, ışık",
}
METAS = {
    "short": '<meta charset="{}">',
    "bare": "<META CHARSET={}>",
    "as a header": '<meta http-equiv="Content-Type" content="text/html; charset={}">',
}


@pytest.mark.parametrize("charset", WORDS)
@pytest.mark.parametrize("meta", METAS)
def test_html_says_its_charset_itself(charset: str, meta: str) -> None:
    page = f"<html><head>{METAS[meta].format(charset)}</head><body><p>{WORDS[charset]}</p></body></html>"
    mail = parse(b"Content-Type: text/html\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + page.encode(charset))
    assert mail.text.strip() == WORDS[charset]


def test_what_the_header_declares_comes_first() -> None:
    page = f'<meta charset="iso-8859-5"><p>{WORDS["windows-1250"]}</p>'.encode("windows-1250")
    mail = parse(b"Content-Type: text/html; charset=windows-1250\r\n\r\n" + page)
    assert mail.text.strip() == WORDS["windows-1250"]


@pytest.mark.parametrize("field", [b"Content-Transfer-Encoding: 7bit\r\n", b""])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"Gr=C3=BC=C3=9Fe, und 1 =3D 1", "Grüße, und 1 = 1"),
        (b"Gr=C3=BC=\r\n=C3=9Fe", "Grüße"),
        (b"a=b and Gr=C3=BC=C3=9Fe", "a=b and Gr=C3=BC=C3=9Fe"),
        (b"https://shop.example/?id=3D&x=20", "https://shop.example/?id=3D&x=20"),
        (b"https://shop.example/?q=C3", "https://shop.example/?q=C3"),
        (b"Gr=C3=BC=C3=9Fe =FF", "Gr=C3=BC=C3=9Fe =FF"),
    ],
)
def test_quoted_printable_under_another_name(field: bytes, written: bytes, read: str) -> None:
    assert (
        parse(b"Content-Type: text/plain; charset=utf-8\r\n" + field + b"\r\n" + written + b"\r\n").text.strip() == read
    )

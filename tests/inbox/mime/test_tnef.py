"""winmail.dat: real files and a body come out; a broken one stays one file."""

from __future__ import annotations

import base64

import pytest
from tnefparse import TNEF

from inbox.mime.parsing import parse
from inbox.mime.rtf import decompress_rtf, rtf_to_html_or_text
from inbox.mime.tnef import read_tnef
from tests.inbox.mime.tnef_files import (
    attached_file,
    attribute,
    binary_property,
    integer_property,
    properties,
    uncompressed_rtf,
    unicode_property,
    winmail,
)

FILES = attached_file(b"BERICHT.PDF", "Bericht Büro.pdf", b"%PDF-1.4 x") + attached_file(
    b"OTCHET~1.TXT", "Отчёт.txt", b"text"
)
RTF = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}Gr\'fc\'dfe \u1086?\u1082?\par second {\b line}\par}"
HTML_RTF = (
    rb"{\rtf1\ansi\ansicpg1252\fromhtml1 {\*\htmltag64 <p>}Gr\'fc\'dfe {\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 ok"
    rb"{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 {\*\htmltag72 </p>}}"
)
# The example of MS-OXRTFCP §3.1: "{\rtf1\ansi\ansicpg1252\pard hello world}\r\n".
COMPRESSED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)


def mail_with(data: bytes, kind: bytes = b"application/ms-tnef") -> bytes:
    return (
        b"Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\r\n"
        b"--b\r\nContent-Type: " + kind + b"; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.encodebytes(data) + b"--b--\r\n"
    )  # fmt: skip


def test_files_replace_the_winmail() -> None:
    mail = parse(mail_with(winmail(files=FILES)))
    assert [(item.filename, item.content, item.origin) for item in mail.attachments] == [
        ("Bericht Büro.pdf", b"%PDF-1.4 x", "tnef"),
        ("Отчёт.txt", b"text", "tnef"),
    ]
    assert mail.attachments[0].sniffed_type == "application/pdf"


def test_an_independent_reader_sees_the_same_files() -> None:
    theirs = TNEF(winmail(files=FILES))
    ours = read_tnef(winmail(files=FILES))
    assert ours is not None
    assert [(item.filename, item.content) for item in ours.files] == [
        (item.long_filename(), item.data) for item in theirs.attachments
    ]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (properties(unicode_property(0x1000, "Grüße о")), "Grüße о"),
        (properties(binary_property(0x1009, uncompressed_rtf(RTF))), "Grüße ок\nsecond line"),
        (properties(binary_property(0x1009, uncompressed_rtf(HTML_RTF))), "Grüße ok"),
        (properties(binary_property(0x1013, "<p>Grüße</p>".encode()), integer_property(0x3FDE, 65001)), "Grüße"),
        (properties(binary_property(0x1009, COMPRESSED)), "hello world"),
    ],
    ids=["unicode", "rtf", "html in rtf", "html", "compressed rtf"],
)
def test_body_comes_out(body: bytes, text: str) -> None:
    mail = parse(mail_with(winmail(body=body)))
    assert mail.text.strip() == text
    assert mail.text_source == "tnef"
    assert mail.attachments == []


def test_name_in_an_old_code_page() -> None:
    files = (
        attribute(2, 0x9002, 6, bytes(14))
        + attribute(2, 0x8010, 1, "Отчёт.doc\0".encode("cp1251"))
        + attribute(2, 0x800F, 6, b"x")
    )
    content = read_tnef(winmail(files=files, codepage=1251))
    assert content is not None
    assert content.files[0].filename == "Отчёт.doc"


def test_recognised_whatever_its_declared_type() -> None:
    assert len(parse(mail_with(winmail(files=FILES), b"application/octet-stream")).attachments) == 2


@pytest.mark.parametrize("cut", [1, 5, 8, 20, 60, 100, 200])
def test_a_cut_winmail_is_kept_as_one_file(cut: int) -> None:
    data = winmail(files=FILES)[:-cut]
    mail = parse(mail_with(data))
    assert [(item.filename, item.content) for item in mail.attachments] == [("winmail.dat", data)]
    assert any("tnef" in warning for warning in mail.warnings)


def test_every_damaged_byte_is_survived() -> None:
    data = winmail(body=properties(unicode_property(0x1000, "text"), binary_property(0x1009, COMPRESSED)), files=FILES)
    for position in range(len(data)):
        read_tnef(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])


def test_decompression_follows_the_specification() -> None:
    assert decompress_rtf(COMPRESSED) == rb"{\rtf1\ansi\ansicpg1252\pard hello world}" + b"\r\n"
    assert decompress_rtf(b"") == b""
    assert decompress_rtf(COMPRESSED[:20]) == decompress_rtf(COMPRESSED)[: len(decompress_rtf(COMPRESSED[:20]))]


def test_what_is_no_rtf_gives_nothing() -> None:
    assert rtf_to_html_or_text(b"hello") == ("", "")

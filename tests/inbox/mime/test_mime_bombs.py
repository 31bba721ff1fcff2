"""Thirty bombs through the real child: each ends in bounded time and memory, and says what it is."""

from __future__ import annotations

import base64
import gzip
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inbox.mime.child import ParserChild
from inbox.mime.parsing import parse

HEAD = b"From: Mallory <m@evil.example>\r\nTo: support@acme.test\r\nSubject: boom\r\n"
CPU_SECONDS = 2.0
RSS_KIB = 256 * 1024
TICKS = os.sysconf("SC_CLK_TCK")


def nested_multiparts(depth: int) -> bytes:
    levels = [
        b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (level, level) for level in range(depth)
    ]
    return HEAD + b"".join(levels) + b"Content-Type: text/plain\r\n\r\ncore\r\n"


def nested_messages(depth: int) -> bytes:
    return HEAD + b"Content-Type: message/rfc822\r\n\r\n" * depth + b"Subject: core\r\n\r\ntext\r\n"


def many_parts(count: int) -> bytes:
    return HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * count + b"--b--\r\n"


def large_body(megabytes: int) -> bytes:
    line = b"All work and no play makes Jack a dull boy.\r\n"
    return HEAD + b"\r\n" + line * (megabytes * 1024 * 1024 // len(line))


def gzip_of_zeros() -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb") as file:
        for _ in range(200):
            file.write(bytes(1024 * 1024))
    return (
        HEAD
        + b"Content-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.encodebytes(buffer.getvalue())
    )


def typed(kind: bytes, body: bytes, *more: bytes) -> bytes:
    return HEAD + b"Content-Type: " + kind + b"\r\n" + b"".join(more) + b"\r\n" + body


BOMBS: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "multiparts nested 50": (lambda: nested_multiparts(50), {"parsed_partial"}),
    "multiparts nested 100": (lambda: nested_multiparts(100), {"parsed_partial"}),
    "multiparts nested 500": (lambda: nested_multiparts(500), {"quarantined"}),
    "multiparts nested 2000": (lambda: nested_multiparts(2_000), {"quarantined"}),
    "multiparts nested 20000": (lambda: nested_multiparts(20_000), {"quarantined"}),
    "messages nested 50": (lambda: nested_messages(50), {"parsed_partial"}),
    "messages nested 100": (lambda: nested_messages(100), {"parsed_partial"}),
    "messages nested 500": (lambda: nested_messages(500), {"parsed_partial"}),
    "messages nested 2000": (lambda: nested_messages(2_000), {"parsed_partial"}),
    "messages nested 20000": (lambda: nested_messages(20_000), {"parsed_partial"}),
    "1000 parts": (lambda: many_parts(1_000), {"parsed_partial"}),
    "10000 parts": (lambda: many_parts(10_000), {"parsed_partial"}),
    "100000 parts": (lambda: many_parts(100_000), {"quarantined"}),
    "25 MB body": (lambda: large_body(25), {"parsed_partial"}),
    "41 MB body": (lambda: large_body(41), {"parsed_partial"}),
    "20000 encoded words": (
        lambda: HEAD.replace(b"boom", b" ".join([b"=?utf-8?q?x?="] * 20_000)) + b"\r\nx",
        {"parsed_partial"},
    ),
    "20000 addresses": (
        lambda: HEAD + b"Cc: " + b", ".join(b"u%d@e.example" % i for i in range(20_000)) + b"\r\n\r\nx",
        {"parsed_partial"},
    ),
    "100000 header lines": (
        lambda: HEAD + b"".join(b"X-H%d: v\r\n" % i for i in range(100_000)) + b"\r\nx",
        {"parsed_partial"},
    ),
    "boundary of 64 KB": (
        lambda: typed(b'multipart/mixed; boundary="' + b"b" * 65_536 + b'"', b"--" + b"b" * 65_536 + b"\r\n\r\nx\r\n"),
        {"parsed_partial"},
    ),
    "soft breaks": (
        lambda: typed(b"text/plain", b"=\r\n" * 4_000_000, b"Content-Transfer-Encoding: quoted-printable\r\n"),
        {"parsed_partial"},
    ),
    "gzip of 200 MB zeros": (gzip_of_zeros, {"parsed"}),
    "10000 nested comments": (
        lambda: b"From: " + b"(" * 10_000 + b"x" + b")" * 10_000 + b" <m@evil.example>\r\n\r\nx",
        {"parsed"},
    ),
    "a million references": (
        lambda: HEAD + b"References: " + b" ".join(b"<%d@e.example>" % i for i in range(1_000_000)) + b"\r\n\r\nx",
        {"parsed_partial"},
    ),
    "a flood of almost-boundaries": (
        lambda: typed(b"multipart/mixed; boundary=a", b"\n--ax" * 3_000_000),
        {"quarantined", "parsed_partial"},
    ),
    "100000 nested tags": (
        lambda: typed(b"text/html", b"<div>" * 100_000 + b"core" + b"</div>" * 100_000),
        {"parsed", "parsed_partial"},
    ),
    "unclosed tags and comments": (
        lambda: typed(b"text/html", b"<script <style <!-- <a " * 60_000),
        {"parsed", "parsed_partial"},
    ),
    "header line of spaces": (
        lambda: HEAD + b"Cc: a" + b" " * 200_000 + b"b\r\nX-A: =?" + b"?" * 200_000 + b"\r\n\r\nx",
        {"parsed_partial"},
    ),
    "parameters without end": (
        lambda: typed(b"text/plain; " + b'a"=' * 60_000 + b"; filename*0*=" + b"%" * 60_000, b"x"),
        {"parsed", "parsed_partial"},
    ),
    "quotes without text": (
        lambda: HEAD + b"\r\n" + b"> On Mon, 1 Jan 2024 at 10:00 a <a@b.example> wrote:\r\nOn 1.1.2024 <\r\n" * 25_000,
        {"parsed", "parsed_partial"},
    ),
    "winmail.dat that counts to four thousand million": (
        lambda: typed(
            b"application/ms-tnef",
            b"\x78\x9f\x3e\x22\x01\x00\x01\x03\x90\x06\x00\x10\x00\x00\x00\xff\xff\xff\xff\x02\x10\x01\x00\xff\xff\xff\xff"
            + bytes(40),
            b"Content-Transfer-Encoding: binary\r\n",
        ),
        {"parsed"},
    ),
}


@pytest.fixture(scope="module")
def child() -> Iterator[ParserChild]:
    parser = ParserChild(cpu_seconds=CPU_SECONDS)
    yield parser
    parser.close()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_contained(child: ParserChild, name: str, cases: Callable[[str, int], None]) -> None:
    build, states = BOMBS[name]
    raw = build()
    child.parse(b"Subject: warm\r\n\r\nup")
    before = cpu_seconds(child.pid or 0)
    mail = child.parse(raw)  # ParserCrashed would fail the test: these are contained by the parser itself
    assert child.pid is not None
    assert cpu_seconds(child.pid) - before <= CPU_SECONDS
    assert peak_kib(child.pid) <= RSS_KIB
    assert mail.status in states
    assert mail.status == "parsed" or mail.reason
    assert mail.size == len(raw)
    if not name.startswith("10000 nested"):
        assert mail.from_ is not None
        assert mail.from_.address == "m@evil.example"
    cases("B3", 1)


def test_quarantined_mail_still_shows_who_wrote() -> None:
    mail = parse(nested_multiparts(500))
    assert (mail.status, mail.subject, mail.text) == ("quarantined", "boom", "")


def test_partial_mail_still_has_its_text() -> None:
    assert "Jack" in parse(large_body(41)).text
    assert parse(many_parts(3_000)).text.startswith("x\n")


def test_ordinary_mail_is_as_fast_after_the_bombs(child: ParserChild) -> None:
    raw = HEAD + b"\r\nHello, where is my order?\r\n"

    def p99() -> float:
        times = []
        for _ in range(200):
            start = time.perf_counter()
            child.parse(raw)
            times.append(time.perf_counter() - start)
        return sorted(times)[197]

    fresh = min(p99() for _ in range(3))
    for name in ("multiparts nested 20000", "100000 parts", "20000 addresses"):
        child.parse(BOMBS[name][0]())
    assert min(p99() for _ in range(3)) < max(fresh * 1.2, 0.005)

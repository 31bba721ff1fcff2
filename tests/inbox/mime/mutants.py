"""Mails that nobody wrote: crafted ones and samples, cut, repeated, spliced and salted with what parsers trip over."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from tests.inbox.mime.test_mime_crafted import CASES

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "mail"
LARGEST = 20_000  # of a seed: what is mutated is the structure, not the length of a text
SALT = [
    b"\x00", b"\r", b"\n", b"\r\n\r\n", b"\r\n ", b"=?utf-8?B?", b"=?utf-8?Q?=00", b"?=", b"=0D=0A", b"--b", b"\r\n--b\r\n", b"\r\n--b--\r\n",
    b"Content-Type: multipart/mixed; boundary=b\r\n", b"Content-Type: message/rfc822\r\n\r\n", b"Content-Transfer-Encoding: base64\r\n",
    b"Content-Transfer-Encoding: quoted-printable\r\n", b"Content-Type: text/html\r\n", b"Content-Type: application/ms-tnef\r\n",
    b"; charset=utf-16", b"; charset=iso-2022-jp", b"; charset=\x00", b"; filename*0*=utf-8''%", b"; filename*99999999999=", b'"', b"<", b">", b"(", b")", b",",
    b";", b":", b"@", b"\\", b"%", b"=", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b$B", b"<script", b"<!--", b"&#x", b"> On a wrote:",
    b"(" * 400, b"<div>" * 400, b"a, " * 400, b"=\r\n" * 400, b"=?utf-8?q?x?= " * 200, b"Received: x\r\n" * 100, b"\r\n--b\r\n" * 200,
]  # fmt: skip


def seeds() -> list[bytes]:
    """What is mutated: one of each, the smaller ones."""
    raws = [raw for raw, _ in CASES.values()] + [file.read_bytes() for file in sorted(SAMPLES.glob("*.eml"))]
    return [raw for raw in raws if 0 < len(raw) <= LARGEST]


def mutants(count: int, *, seed: int) -> Iterator[bytes]:
    """The same `count` mails for the same seed."""
    chance, sources = random.Random(seed), seeds()
    for _ in range(count):
        raw = bytearray(chance.choice(sources))
        for _ in range(chance.randint(1, 8)):
            _mutate(raw, chance, sources)
        yield bytes(raw)


def _mutate(raw: bytearray, chance: random.Random, sources: list[bytes]) -> None:
    at = chance.randrange(len(raw) + 1)
    change = chance.randrange(7)
    if change == 0:
        raw[at : at + 1] = bytes([chance.randrange(256)])
    elif change == 1:
        del raw[at : at + chance.randrange(80)]
    elif change == 2:
        raw[at:at] = raw[at : at + chance.randrange(200)] * chance.choice([1, 1, 2, 20])
    elif change == 3:
        other = chance.choice(sources)
        raw[at:at] = other[chance.randrange(len(other)) :][: chance.randrange(600)]
    elif change == 4:
        raw[at:at] = chance.choice(SALT)
    elif change == 5:
        lines = raw.split(b"\n")
        chance.shuffle(lines)
        raw[:] = b"\n".join(lines)
    else:
        raw[:] = raw.replace(
            *chance.choice([(b"\r\n", b"\n"), (b"\r\n", b"\r"), (b"\n", b"\r\n"), (b": ", b":"), (b"; ", b";\r\n")])
        )

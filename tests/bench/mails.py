"""Mails as they arrive: trace headers, replies that cite, quoted text, inline images, attachments. Same seed, same bytes."""

import base64
import quopri
import textwrap
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["text", "alternative", "inline", "pdf"]
KINDS: tuple[Kind, ...] = ("text", "alternative", "inline", "pdf")
CUSTOMERS = 5

_TEXT = (
    "order invoice parcel delivery address Grüße möchte refund week customer number please garçon the a of to and for "
    "tracking warehouse Zürich replacement broken screen returned label morning because waiting answer since Friday "
    "received wrong colour size account password reset link expired subscription cancel payment card declined twice"
)
_WORDS = _TEXT.split()


@dataclass(frozen=True)
class Mail:
    """One mail with its envelope."""

    raw: bytes
    sender: str
    recipient: str
    provider_id: str


@dataclass(frozen=True)
class _Earlier:
    """What a reply needs to know of the mail that it answers."""

    message_id: str
    references: tuple[str, ...]
    subject: str
    sender: str
    recipient: str


class Writer:
    """Writes batch after batch. Replies answer mails of earlier batches only, so any order within a batch is right.

    With `flat` they answer openers only, so that each cites one mail and batches do not differ.
    """

    def __init__(self, recipients: list[str], *, seed: str = "bench", flat: bool = False) -> None:
        self._recipients = recipients
        self._flat = flat
        self._random = Random(seed)
        self._seed = seed
        self._count = 0
        self._earlier: list[_Earlier] = []
        self._block = self._random.randbytes(700_000)

    def openers(self, customers: int = CUSTOMERS) -> list[Mail]:
        """A first mail from each known customer to each recipient."""
        pairs = [
            self._opener(recipient, f"customer{number}@buyers.test", "text")
            for recipient in self._recipients
            for number in range(customers)
        ]
        self._earlier += [earlier for _, earlier in pairs]
        return [mail for mail, _ in pairs]

    def batch(self, count: int, kind: Kind = "text", *, replies: float = 0.6, strangers: float = 0.1) -> list[Mail]:
        """`count` mails: replies, first mails of strangers, and first mails of known customers."""
        pairs = [self._next(kind, replies, strangers) for _ in range(count)]
        if not self._flat:
            self._earlier += [earlier for _, earlier in pairs]
        return [mail for mail, _ in pairs]

    def _next(self, kind: Kind, replies: float, strangers: float) -> tuple[Mail, _Earlier]:
        dice = self._random.random()
        if dice < replies and self._earlier:
            old = self._random.choice(self._earlier)
            references = (*old.references[-9:], old.message_id)
            subject = old.subject if old.subject.startswith("Re: ") else f"Re: {old.subject}"
            return self._write(kind, old.sender, old.recipient, subject, references)
        recipient = self._random.choice(self._recipients)
        sender = f"customer{self._random.randrange(CUSTOMERS)}@buyers.test"
        if dice > 1 - strangers:
            sender = f"stranger{self._count}.{self._seed}@people.test"
        return self._opener(recipient, sender, kind)

    def _opener(self, recipient: str, sender: str, kind: Kind) -> tuple[Mail, _Earlier]:
        return self._write(kind, sender, recipient, self._sentence(6).rstrip(".").capitalize(), ())

    def _write(
        self, kind: Kind, sender: str, recipient: str, subject: str, references: tuple[str, ...]
    ) -> tuple[Mail, _Earlier]:
        self._count += 1
        message_id = f"<{self._random.getrandbits(96):024x}.{self._count}@mx.buyers.test>"
        head = [
            *_trace(self._random, sender, recipient),
            f"From: {_name(sender)} <{sender}>",
            f"To: Support <{recipient}>",
            f"Subject: {_word(subject)}",
            f"Date: Thu, 05 Nov 2026 09:{self._count // 60 % 60:02}:{self._count % 60:02} +0100",
            f"Message-ID: {message_id}",
            *([f"In-Reply-To: {references[-1]}", "References: " + "\r\n ".join(references)] if references else []),
            "User-Agent: Mozilla Thunderbird",
            "MIME-Version: 1.0",
        ]
        content = {
            "text": self._text, "alternative": self._alternative, "inline": self._inline, "pdf": self._pdf
        }[kind]()  # fmt: skip
        raw = "\r\n".join(head).encode() + b"\r\n" + content
        earlier = _Earlier(message_id, references, subject, sender, recipient)
        return Mail(raw, sender, recipient, f"{self._seed}-{self._count}"), earlier

    def _sentence(self, words: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=words)) + "."

    def _prose(self, size: int) -> str:
        """About `size` characters in paragraphs of wrapped lines."""
        paragraphs, length = [], 0
        while length < size:
            paragraph = textwrap.fill(" ".join(self._sentence(11) for _ in range(4)), 72)
            paragraphs.append(paragraph)
            length += len(paragraph) + 2
        return "\n\n".join(paragraphs)[:size]

    def _text(self) -> bytes:
        return _part("text/plain; charset=utf-8", f"Hello,\n\n{self._prose(2_000)}\n\nKind regards\nAda\n")

    def _alternative(self) -> bytes:
        return _multipart("alternative", [*self._both(3_300)])

    def _both(self, size: int) -> tuple[bytes, bytes]:
        new, old = self._prose(size // 3), self._prose(size)
        quoted = "\n".join(f"> {line}" for line in old.splitlines())
        plain = f"{new}\n\nOn Wed, 4 Nov 2026 at 17:01, Support wrote:\n\n{quoted}\n"
        html_old = "".join(f'<p style="margin:0 0 1em 0;color:#333333">{p}</p>\n' for p in old.split("\n\n"))
        html_new = "".join(f'<p class="MsoNormal"><span lang="EN">{p}</span></p>\n' for p in new.split("\n\n"))
        style = "<style>p.MsoNormal{margin:0;font-size:11.0pt;font-family:Calibri,sans-serif}" + " .x{color:red}" * 90
        html = (
            f"<html><head>{style}</style></head><body>{html_new}"
            f'<div class="gmail_quote"><div dir="ltr">On Wed, 4 Nov 2026, Support wrote:<br></div>'
            f'<blockquote class="gmail_quote">{html_old}</blockquote></div></body></html>\n'
        )
        return _part("text/plain; charset=utf-8", plain), _part("text/html; charset=utf-8", html)

    def _bytes(self, size: int) -> bytes:
        """Incompressible bytes that no other mail has."""
        return self._random.randbytes(64) + self._block[: size - 64]

    def _inline(self) -> bytes:
        images = [
            _file("image/png", f"image{n}.png", b"\x89PNG\r\n\x1a\n" + self._bytes(25_000), f"img{n}@mx", "inline")
            for n in range(3)
        ]
        return _multipart("related", [_multipart("alternative", [*self._both(2_400)]), *images])

    def _pdf(self) -> bytes:
        pdf = b"%PDF-1.7\n" + self._bytes(675_000) + b"\n%%EOF\n"
        text = _part("text/plain; charset=utf-8", self._prose(1_500) + "\n")
        return _multipart("mixed", [text, _file("application/pdf", "Rechnung 4711.pdf", pdf, "", "attachment")])


def _name(address: str) -> str:
    return _word(address.partition("@")[0].capitalize() + (" Müller" if "r1" in address else " Miller"))


def _word(text: str) -> str:
    """RFC 2047 where it is needed, in words of at most 75 characters."""
    if text.isascii():
        return text
    pieces = (text[at : at + 24].encode() for at in range(0, len(text), 24))
    return "\r\n ".join(f"=?utf-8?B?{base64.b64encode(piece).decode()}?=" for piece in pieces)


def _trace(random: Random, sender: str, recipient: str) -> list[str]:
    """What relays, a signer and a receiver leave at the top of a mail: about 1.5 kB."""
    when = "Thu, 05 Nov 2026 08:00:01 +0000"
    hops = [
        f"Received: from relay{n}.buyers.test (relay{n}.buyers.test [192.0.2.{n + 10}])\r\n\tby mx{n}.host.test"
        f" (Postfix) with ESMTPS id {random.getrandbits(48):012X}\r\n\tfor <{recipient}>; {when}"
        for n in range(3)
    ]
    key = base64.b64encode(random.randbytes(256)).decode()
    signature = "\r\n\t".join(textwrap.wrap(key, 68))
    return [
        f"Return-Path: <{sender}>",
        *hops,
        "Authentication-Results: mx.host.test;\r\n\tdkim=pass header.d=buyers.test;\r\n\tspf=pass; dmarc=pass",
        "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=buyers.test; s=m1;\r\n"
        f"\th=From:To:Subject:Date:Message-ID; bh={key[:43]}=;\r\n\tb={signature}",
        f"X-Received: by 2002:a05 with SMTP id {random.getrandbits(64):016x}; {when}",
    ]


def _part(kind: str, text: str) -> bytes:
    body = quopri.encodestring(text.encode()).replace(b"\n", b"\r\n")
    return f"Content-Type: {kind}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n".encode() + body


def _file(kind: str, name: str, content: bytes, content_id: str, disposition: str) -> bytes:
    head = [
        f'Content-Type: {kind}; name="{name}"',
        f'Content-Disposition: {disposition}; filename="{name}"',
        "Content-Transfer-Encoding: base64",
        *([f"Content-ID: <{content_id}>"] if content_id else []),
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + base64.encodebytes(content).replace(b"\n", b"\r\n")


def _multipart(kind: str, parts: list[bytes]) -> bytes:
    mark = f"----=_{kind}_{len(parts)}_{len(parts[0])}"
    body = b"".join(f"--{mark}\r\n".encode() + part + b"\r\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{mark}"\r\n\r\n'.encode() + body + f"--{mark}--\r\n".encode()

"""Outgoing mail as bytes: threading headers, our signed Message-ID, and the marks of a machine's mail.

Every value that came from outside is cleaned of control characters before it enters a header, so nothing that a stranger
wrote can add a header or a recipient (C12).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from inbox.mime import subjects
from inbox.mime.classify import HOP_HEADER

# Line breaks in every spelling, other controls, and the marks that reorder text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
# Visible ASCII, and never an encoded word: a reader would decode it, line breaks and all.
_MESSAGE_ID = re.compile(r"(?!.*=\?)[!-;=?-~]{1,900}")
_PLAIN = re.compile(r"(?!.*=\?)(?!.*  )(?:[!-~](?:[ -~]*[!-~])?)?")
_ATOMS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_BRACKETS = re.compile(r"[\s<>(),;:\"]")
_LINE = 70
_MAX_SUBJECT = 900
_MAX_REFERENCES = 20


@dataclass(frozen=True)
class Outgoing:
    """What a reply says and where it belongs. Message ids are without angle brackets."""

    from_name: str
    from_address: str
    to: Sequence[tuple[str, str]]
    subject: str
    text: str
    message_id: str
    date: datetime
    in_reply_to: str = ""
    references: Sequence[str] = ()
    automatic: bool = True
    hops: int = 1
    reply_to: str = ""


def header_text(text: str, *, limit: int = _MAX_SUBJECT) -> str:
    """Text that may stand in a header: one line, no controls, no lone surrogates, no encoded word of a stranger's."""
    flat = _CONTROLS.sub(" ", text).encode("utf-8", "replace").decode().replace("=?", "= ?")
    return " ".join(flat.split())[:limit]


def reply_subject(subject: str) -> str:
    """`Re: ` once, whatever language the other side's prefixes are in."""
    return f"Re: {header_text(subjects.unanswered(subject)) or '(no subject)'}"


def compose(mail: Outgoing) -> bytes:
    """The message, CRLF and 7-bit, ready for any transport.

    The fields are written by hand: the library decodes what looks encoded in them, encodes what is long in an id, and loses
    the quotes of a long name. It writes the body and what describes it.
    """
    fields = [
        ("Message-ID", header_text(mail.message_id)),
        ("From", mailbox(mail.from_name, mail.from_address)),
        *([("Reply-To", mailbox(mail.from_name, mail.reply_to))] if mail.reply_to else []),
        ("To", ",\r\n ".join(mailbox(name, address) for name, address in mail.to)),
        ("Subject", words(header_text(mail.subject))),
        ("Date", format_datetime(mail.date)),
        *_references(mail),
        *(_marks(mail) if mail.automatic else []),
    ]
    body = EmailMessage(policy=SMTP)
    body.set_content(mail.text.replace("\r\n", "\n"), cte="quoted-printable")
    return "".join(f"{name}: {value}\r\n" for name, value in fields).encode("ascii") + body.as_bytes()


def _marks(mail: Outgoing) -> list[tuple[str, str]]:
    """Of a machine's answer (RFC 3834 §5; the second is what Exchange honours). A person's ends every chain of machines."""
    return [("Auto-Submitted", "auto-replied"), ("X-Auto-Response-Suppress", "All"), (HOP_HEADER, str(mail.hops))]


def words(text: str) -> str:
    """One line of text as it travels: plain where it is, else in encoded words (RFC 2047), which keep every character."""
    if _PLAIN.fullmatch(text) and len(text) <= _LINE:
        return text
    return Header(text, "utf-8", maxlinelen=_LINE).encode(linesep="\r\n")


def phrase(name: str) -> str:
    """A display name: letters, digits and single spaces as they are, all else in encoded words."""
    return name if _ATOMS.fullmatch(name) and len(name) <= _LINE else _encoded(name)


def mailbox(name: str, address: str) -> str:
    """An address with its name, cleaned; the address in ASCII, its domain as it is looked up."""
    shown = header_text(name, limit=200)
    cleaned = _addressed(address)
    return f"{phrase(shown)} <{cleaned}>" if shown else cleaned


def _encoded(name: str) -> str:
    return Header(name, "utf-8", maxlinelen=_LINE).encode(linesep="\r\n")


def _addressed(address: str) -> str:
    local, _, domain = _BRACKETS.sub("", header_text(address)).rpartition("@")
    return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode()}"


def _references(mail: Outgoing) -> list[tuple[str, str]]:
    """Where the mail belongs, in ids that no reader takes for anything else."""
    found = [("In-Reply-To", f"<{mail.in_reply_to}>")] if _MESSAGE_ID.fullmatch(mail.in_reply_to) else []
    cited = [item for item in [*mail.references, mail.in_reply_to] if _MESSAGE_ID.fullmatch(item)]
    if cited:
        found.append(("References", "\r\n ".join(f"<{item}>" for item in _shorten(cited))))
    return found


def _shorten(cited: list[str]) -> list[str]:
    """The first and the last ones, each once (RFC 5322 §3.6.4 sets no limit; long chains break gateways)."""
    unique = list(dict.fromkeys(cited))
    return unique if len(unique) <= _MAX_REFERENCES else [unique[0], *unique[-(_MAX_REFERENCES - 1) :]]

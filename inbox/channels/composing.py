"""Outgoing mail as bytes: threading headers, our signed Message-ID, and the marks of a machine's mail.

Every value that came from outside is cleaned of control characters before it enters a header, so nothing that a stranger
wrote can add a header or a recipient (C12).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address as HeaderAddress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from inbox.mime.classify import HOP_HEADER

# Line breaks in every spelling, other controls, and the marks that reorder text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
_MESSAGE_ID = re.compile(r"[^\s<>]{1,900}")
_REPLY = re.compile(r"^\s*((re|aw|sv|vs|antw|odp|rv|ref)\s*(\[\d+\])?\s*[::]\s*)+", re.IGNORECASE)
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


def header_text(text: str, *, limit: int = _MAX_SUBJECT) -> str:
    """Text that may stand in a header: one line, no controls, no lone surrogates, no encoded word of a stranger's."""
    flat = _CONTROLS.sub(" ", text).encode("utf-8", "replace").decode().replace("=?", "= ?")
    return " ".join(flat.split())[:limit]


def reply_subject(subject: str) -> str:
    """`Re: ` once, whatever language the other side's prefixes are in."""
    return f"Re: {header_text(_REPLY.sub('', subject)) or '(no subject)'}"


def compose(mail: Outgoing) -> bytes:
    """The message, CRLF and 7-bit, ready for any transport."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(mail.from_name, mail.from_address)
    message["To"] = [_address(name, address) for name, address in mail.to]
    message["Subject"] = header_text(mail.subject)
    message["Date"] = format_datetime(mail.date)
    cited = [item for item in [*mail.references, mail.in_reply_to] if _MESSAGE_ID.fullmatch(item)]
    if mail.in_reply_to and _MESSAGE_ID.fullmatch(mail.in_reply_to):
        message["In-Reply-To"] = f"<{mail.in_reply_to}>"
    if cited:
        message["References"] = " ".join(f"<{item}>" for item in _shorten(cited))
    if mail.automatic:
        # RFC 3834 §5; the second is what Exchange honours.
        message["Auto-Submitted"] = "auto-replied"
        message["X-Auto-Response-Suppress"] = "All"
    message[HOP_HEADER] = str(mail.hops)
    message.set_content(mail.text.replace("\r\n", "\n"), cte="quoted-printable")
    # By itself, since the library folds a long id onto a second line, where some gateways lose it.
    return f"Message-ID: {header_text(mail.message_id)}\r\n".encode("ascii") + message.as_bytes()


def _shorten(cited: list[str]) -> list[str]:
    """The first and the last ones, each once (RFC 5322 §3.6.4 sets no limit; long chains break gateways)."""
    unique = list(dict.fromkeys(cited))
    return unique if len(unique) <= _MAX_REFERENCES else [unique[0], *unique[-(_MAX_REFERENCES - 1) :]]


def _address(name: str, address: str) -> HeaderAddress:
    local, _, domain = header_text(address).rpartition("@")
    return HeaderAddress(display_name=header_text(name, limit=200), username=local, domain=domain)

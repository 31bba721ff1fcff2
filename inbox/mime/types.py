"""The normal form of a mail: what the parser promises to whoever stores it.

Every string in these structs is fit for a database and for an outgoing header: no NUL, no lone
surrogate anywhere; no CR, LF or other control character in anything that came from a header.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

Status = Literal["parsed", "parsed_partial", "quarantined"]
Kind = Literal["human", "auto_reply", "bounce", "list", "spam", "virus", "self"]


class Address(msgspec.Struct, frozen=True):
    """One mailbox. `address` keeps the sender's spelling; compare with `casefold()`."""

    name: str
    address: str

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2].casefold()


class ParsedAttachment(msgspec.Struct, frozen=True, kw_only=True):
    """A part that is not body text, with its bytes.

    `content_type` is what the sender declared, `sniffed_type` what the first bytes say; the latter wins
    when the two disagree. `filename` is None where the sender gave none (`naming.display_name` makes one).
    `content` is None when the total cap was reached: the raw message still holds it.
    """

    filename: str | None
    content_type: str
    sniffed_type: str
    size: int
    sha256: str
    inline: bool = False
    content_id: str | None = None
    content_location: str | None = None
    disposition: str | None = None
    content: bytes | None = None
    part: str = "1"
    origin: Literal["mime", "tnef"] = "mime"


class FailedRecipient(msgspec.Struct, frozen=True):
    """One recipient of a delivery report (RFC 3464 §2.3)."""

    address: str
    action: Literal["failed", "delayed", "delivered", "relayed", "expanded", "complaint"]
    status: str | None = None
    diagnostic: str | None = None


class BounceReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a bounce says, and about which of our messages (`original_message_id`, without brackets)."""

    recipients: list[FailedRecipient]
    original_message_id: str | None = None
    reporting_mta: str | None = None


class ParsedMail(msgspec.Struct, frozen=True, kw_only=True):
    """One mail. Message ids are without angle brackets (RFC 8621 §4.1.2.5); `date` is aware and UTC.

    `headers` are all decoded fields in their order, bounded by the limits; where a field occurs twice
    the first one decides. `return_path` is "" for the null path `<>` and None when the field is absent.
    `mail_class` is judged from the message alone; ingest judges again with the envelope and verdicts.
    `html` is as the sender wrote it; `safe_html` may be stored and shown, and is there once ingest has had it cleaned.
    """

    status: Status
    reason: str | None = None
    size: int = 0
    subject: str = ""
    from_: Address | None = msgspec.field(default=None, name="from")
    from_ambiguous: bool = False
    sender: Address | None = None
    reply_to: list[Address] = []
    return_path: str | None = None
    to: list[Address] = []
    cc: list[Address] = []
    date: datetime | None = None
    message_id: str | None = None
    in_reply_to: list[str] = []
    references: list[str] = []
    text: str = ""
    text_source: Literal["plain", "html", "tnef", "none"] = "none"
    html: str = ""
    safe_html: str = ""
    reply_text: str = ""
    attachments: list[ParsedAttachment] = []
    headers: list[tuple[str, str]] = []
    content_type: str = "text/plain"
    report_type: str | None = None
    signed: bool = False
    encrypted: bool = False
    is_forward: bool = False
    mail_class: Kind = "human"
    class_reason: str = ""
    may_auto_answer: bool = True
    bounce: BounceReport | None = None
    warnings: list[str] = []

    def header(self, name: str) -> str | None:
        """The first field of that name, decoded."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def header_all(self, name: str) -> list[str]:
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]

"""Mail handed in through the API: raw, or as fields from which a message is made (X-6)."""

from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from typing import Any
from uuid import UUID

from inbox.channels.composing import header_text
from inbox.models import Email
from inbox.services import accepting
from kernel import clock
from kernel.errors import Invalid

_OWN_HEADERS = frozenset(
    [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "message-id",
        "in-reply-to",
        "references",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
    ]
)


@dataclass(frozen=True)
class MailFields:
    """The fields of a mail; addresses are `{"name": …, "address": …}`."""

    sender: dict[str, str]
    to: list[dict[str, str]]
    cc: list[dict[str, str]] = field(default_factory=list)
    subject: str = ""
    text: str = ""
    html: str = ""
    message_id: str = ""
    in_reply_to: str = ""
    references: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


def hand_in(
    *, workspace_id: UUID, raw: bytes, recipients: list[str], message_id: str, custom_metadata: dict[str, Any]
) -> list[Email]:
    """Store a mail for this workspace's inboxes; the e-mails that it became, in state `stored`.

    Raises Invalid when none of the recipients is an inbox of the workspace.
    """
    accepted = accepting.accept(
        source="api",
        provider_message_id=message_id,
        raw=raw,
        recipients=recipients,
        only_workspace=workspace_id,
    )
    ids = [row.email_id for row in accepted if row.email_id]
    if not ids:
        raise Invalid("None of the recipients is an inbox of this workspace.", pointer="/to")
    if custom_metadata:
        Email.objects.filter(id__in=ids).update(custom_metadata=custom_metadata)
    return list(Email.objects.filter(id__in=ids).order_by("id"))


def compose(fields: MailFields) -> bytes:
    """A raw message from its fields. Header text is cleaned, so that no field can add a header."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(fields.sender)
    message["To"] = ", ".join(_address(item) for item in fields.to)
    if fields.cc:
        message["Cc"] = ", ".join(_address(item) for item in fields.cc)
    message["Subject"] = header_text(fields.subject)
    message["Date"] = format_datetime(clock.now())
    message["Message-ID"] = f"<{_id(fields.message_id)}>" if fields.message_id else make_msgid(domain="api.invalid")
    if fields.in_reply_to:
        message["In-Reply-To"] = f"<{_id(fields.in_reply_to)}>"
    if fields.references:
        message["References"] = " ".join(f"<{_id(item)}>" for item in fields.references)
    for name, value in fields.headers.items():
        if name.lower() in _OWN_HEADERS or not name.replace("-", "").isalnum() or not name.isascii():
            raise Invalid(f"The header {name!r} cannot be set here.", pointer="/headers")
        message[name] = header_text(value)
    message.set_content(fields.text)
    if fields.html:
        message.add_alternative(fields.html, subtype="html")
    return message.as_bytes()


def _id(text: str) -> str:
    return "".join(header_text(text).strip("<>").split())


def _address(item: dict[str, str]) -> str:
    name = header_text(item.get("name", ""), limit=200).replace('"', "'")
    address = header_text(item["address"]).replace(">", "")
    return f'"{name}" <{address}>' if name else address

"""Mail handed in through the API: raw, or as fields from which a message is made (X-6)."""

from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from typing import Any
from uuid import UUID

from audit.services import record
from inbox.channels.composing import phrase, words
from inbox.models import Email
from inbox.services import accepting
from kernel import clock
from kernel.errors import Invalid

_OWN_HEADERS = frozenset(
    {"from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "mime-version"}
)
_MAX_ID = 200


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
        provider_message_id=_fitting(message_id),
        raw=raw,
        recipients=recipients,
        only_workspace=workspace_id,
    )
    ids = [row.email_id for row in accepted if row.email_id]
    if not ids:
        raise Invalid("None of the recipients is an inbox of this workspace.", pointer="/to")
    if custom_metadata:
        Email.objects.filter(id__in=ids).update(custom_metadata=custom_metadata)
    emails = list(Email.objects.filter(id__in=ids).order_by("id"))
    record(
        workspace_id=workspace_id,
        action="email.hand_in",
        resource_kind="email",
        resource_id=emails[0].id,
        payload={"emails": [row.id for row in emails], "bytes": len(raw)},
    )
    return emails


def _fitting(message_id: str) -> str:
    """Two long keys that begin alike are two mails."""
    if len(message_id) <= _MAX_ID:
        return message_id
    return accepting.content_id(message_id.encode())


def compose(fields: MailFields) -> bytes:
    """A raw message from its fields. Each header is one line here, encoded where it is not plain, so that no field can
    add a header and every one is read as it was given."""
    headers = [
        ("From", _address(fields.sender)),
        ("To", ", ".join(_address(item) for item in fields.to)),
        *([("Cc", ", ".join(_address(item) for item in fields.cc))] if fields.cc else []),
        ("Subject", words(fields.subject)),
        ("Date", format_datetime(clock.now())),
        ("Message-ID", _id(fields.message_id) if fields.message_id else make_msgid(domain="api.invalid")),
        *([("In-Reply-To", _id(fields.in_reply_to))] if fields.in_reply_to else []),
        *([("References", "\r\n ".join(_id(item) for item in fields.references))] if fields.references else []),
    ]
    for name, value in fields.headers.items():
        if name.lower() in _OWN_HEADERS or name.lower().startswith("content-"):
            raise Invalid(f"The header {name!r} cannot be set here.", pointer="/headers")
        headers.append((name, words(value)))
    message = EmailMessage(policy=SMTP)
    message.set_content(fields.text)
    if fields.html:
        message.add_alternative(fields.html, subtype="html")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return head.encode() + message.as_bytes()


def _id(text: str) -> str:
    return f"<{text.strip('<>')}>"


def _address(item: dict[str, str]) -> str:
    name, address = item.get("name", ""), item["address"]
    return f"{phrase(name)} <{address}>" if name else address

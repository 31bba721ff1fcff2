"""Mail handed in through the API: raw, or as fields from which a message is made (X-6)."""

import base64
from dataclasses import dataclass, field
from email.utils import format_datetime, make_msgid
from typing import Any
from uuid import UUID, uuid4

from audit.services import record
from inbox.channels.composing import phrase, words
from inbox.models import Email
from inbox.services import accepting
from inbox.services.accepting import Accepted
from inbox.types import EmailState, MailClass
from kernel import clock
from kernel.errors import Invalid

_OWN_HEADERS = frozenset(
    {"from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "mime-version"}
)
_MAX_ID = 200
_MAX_LINE = 998  # octets, RFC 5322


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
    record(
        workspace_id=workspace_id,
        action="email.hand_in",
        resource_kind="email",
        resource_id=ids[0],
        payload={"emails": ids, "bytes": len(raw)},
    )
    if custom_metadata:
        Email.objects.filter(id__in=ids).update(custom_metadata=custom_metadata)
    elif all(row.is_new for row in accepted):
        fresh = [_fresh(row, row.inbox_id, _fitting(message_id)) for row in accepted if row.inbox_id]
        return sorted(fresh, key=lambda email: email.id)
    return list(Email.objects.select_related("entry").filter(id__in=ids).order_by("id"))


def _fresh(row: Accepted, inbox_id: UUID, message_id: str) -> Email:
    """An e-mail that was stored just now, without asking for it: nothing of it is known but where it is for."""
    email = Email(
        id=row.email_id,
        workspace_id=row.workspace_id,
        inbound_message_id=row.inbound_message_id,
        inbox_id=inbox_id,
        message_id=message_id,
        state=EmailState.STORED,
        state_reason="",
        mail_class=MailClass.HUMAN,
        class_reason="",
        may_auto_answer=False,
        hops=0,
        received_at=row.at,
        created_at=row.at,
        updated_at=row.at,
    )
    Email._meta.get_field("entry").set_cached_value(email, None)
    return email


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
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{head}MIME-Version: 1.0\r\n".encode() + _content(fields.text, fields.html)


def _content(text: str, html: str) -> bytes:
    """The rest of a message: a text, or the choice between a text and its HTML."""
    if not html:
        return _part("plain", text)
    boundary = f"=_{uuid4().hex}".encode()
    parts = b"".join(b"--%b\r\n%b" % (boundary, part) for part in (_part("plain", text), _part("html", html)))
    kind = b'Content-Type: multipart/alternative; boundary="%b"\r\n\r\n' % boundary
    return b"%b%b--%b--\r\n" % (kind, parts, boundary)


def _part(subtype: str, text: str) -> bytes:
    """Text as it is, unless a line is longer than a mail's may be. The library's own writer takes fifty times as long."""
    lines = text.encode().splitlines()
    body = b"\r\n".join([*lines, b""])
    encoding = "7bit" if text.isascii() else "8bit"
    if max(map(len, lines), default=0) > _MAX_LINE:
        encoding, body = "base64", base64.encodebytes(body).replace(b"\n", b"\r\n")
    head = f'Content-Type: text/{subtype}; charset="utf-8"\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n'
    return head.encode() + body


def _id(text: str) -> str:
    return f"<{text.strip('<>')}>"


def _address(item: dict[str, str]) -> str:
    name, address = item.get("name", ""), item["address"]
    return f"{phrase(name)} <{address}>" if name else address

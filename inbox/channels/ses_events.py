"""What became of a mail that SES sent: its notifications (`notificationType`) and its published events (`eventType`).

Both forms of one fact read the same and have the same key, so that it is one fact whichever way, and how often, it comes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from inbox.normalise import lenient
from inbox.tokens import own_entry

TAG: Final = "outbound_message"
_MAX_RECIPIENTS = 200

# What SES calls it, and what we do.
_KINDS: Final = {
    "Send": "sent",
    "Delivery": "delivered",
    "Bounce": "bounced",
    "Complaint": "complained",
    "DeliveryDelay": "delayed",
    "Reject": "rejected",
    "Rendering Failure": "rejected",
    "RenderingFailure": "rejected",
}


@dataclass(frozen=True)
class RecipientNews:
    """One recipient's part; `status` is of RFC 3463, `diagnostic` the other server's words."""

    address: str
    status: str = ""
    diagnostic: str = ""


@dataclass(frozen=True)
class News:
    """A fact about one sent mail. `kind` is sent, delivered, bounced, complained, delayed or rejected."""

    kind: str
    message_id: str
    at: datetime | None
    recipients: Sequence[RecipientNews] = ()
    tag: UUID | None = None
    entry_id: UUID | None = None
    # Of a bounce: that trying again is of no use. Of a complaint: that it is one ("not-spam" is the opposite).
    is_final: bool = True
    fact_id: str = ""
    detail: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """Names the fact, whatever envelope it came in."""
        who = sorted(item.address for item in self.recipients)
        parts = [self.kind, self.message_id, self.fact_id or (self.at.isoformat() if self.at else ""), *who]
        return hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).digest()


def read(content: dict[str, Any]) -> News | None:
    """The news in a message of SES; None for what is none, or of a kind that changes nothing (opens, clicks…)."""
    kind = _KINDS.get(_text(content.get("notificationType") or content.get("eventType")))
    mail = _part(content, "mail")
    message_id = _text(mail.get("messageId"))
    if kind is None or not message_id:
        return None
    common = {"message_id": message_id[:200], "tag": _tag(mail), "entry_id": _own_entry(mail)}
    reader = {
        "sent": _sent,
        "delivered": _delivered,
        "bounced": _bounced,
        "complained": _complained,
        "delayed": _delayed,
        "rejected": _rejected,
    }[kind]
    return reader(content, mail, common)


def _sent(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    return News("sent", at=_when(mail), recipients=_addresses(mail.get("destination")), **common)


def _delivered(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    part = _part(content, "delivery")
    answer = _text(part.get("smtpResponse"))[:500]
    found = [RecipientNews(item.address, diagnostic=answer) for item in _addresses(part.get("recipients"))]
    return News("delivered", at=_when(part), recipients=found, detail=_detail(part, "reportingMTA"), **common)


def _bounced(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    part = _part(content, "bounce")
    return News(
        "bounced",
        at=_when(part),
        recipients=_rows(part.get("bouncedRecipients")),
        is_final=_text(part.get("bounceType")) == "Permanent",
        fact_id=_text(part.get("feedbackId"))[:200],
        detail=_detail(part, "bounceType", "bounceSubType", "reportingMTA"),
        **common,
    )


def _complained(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    """SES names every recipient of the domain that complained; which one it was, nobody tells."""
    part = _part(content, "complaint")
    return News(
        "complained",
        at=_when(part),
        recipients=_rows(part.get("complainedRecipients")),
        is_final=_text(part.get("complaintFeedbackType")) != "not-spam",
        fact_id=_text(part.get("feedbackId"))[:200],
        detail=_detail(part, "complaintSubType", "complaintFeedbackType", "userAgent"),
        **common,
    )


def _delayed(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    part = _part(content, "deliveryDelay")
    found = _rows(part.get("delayedRecipients"))
    return News(
        "delayed", at=_when(part), recipients=found, detail=_detail(part, "delayType", "expirationTime"), **common
    )


def _rejected(content: dict[str, Any], mail: dict[str, Any], common: dict[str, Any]) -> News:
    part = {**_part(content, "failure"), **_part(content, "reject")}
    found = _addresses(mail.get("destination"))
    return News("rejected", at=_when(mail), recipients=found, detail=_detail(part, "reason", "errorMessage"), **common)


def _rows(value: Any) -> list[RecipientNews]:
    rows = [row for row in _list(value) if isinstance(row, dict)]
    found = [
        RecipientNews(
            _address(row.get("emailAddress")),
            _text(row.get("status"))[:20],
            _text(row.get("diagnosticCode"))[:500],
        )
        for row in rows
    ]
    return [item for item in found if item.address]


def _addresses(value: Any) -> list[RecipientNews]:
    return [RecipientNews(address) for item in _list(value) if (address := _address(item))]


def _address(value: Any) -> str:
    """Canonical; SES gives some as `Name <address>`."""
    text = _text(value)
    inner = text[text.rfind("<") + 1 : text.rfind(">")] if text.rstrip().endswith(">") else text
    return lenient(inner) if "@" in inner else ""


def _list(value: Any) -> list[Any]:
    return value[:_MAX_RECIPIENTS] if isinstance(value, list) else []


def _part(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """Text as a column takes it."""
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else ""


def _detail(part: dict[str, Any], *names: str) -> dict[str, str]:
    return {name: text[:300] for name in names if (text := _text(part.get(name)))}


def _when(part: dict[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(part.get("timestamp")))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _tag(mail: dict[str, Any]) -> UUID | None:
    """What we sent along (channels/ses.py); only published events bring it back."""
    for value in _list(_part(mail, "tags").get(TAG)):
        try:
            return UUID(_text(value))
        except ValueError:
            continue
    return None


def _own_entry(mail: dict[str, Any]) -> UUID | None:
    """The entry that our signed Message-ID names, where the notification carries the mail's headers."""
    rows = [row for row in _list(mail.get("headers")) if isinstance(row, dict)]
    found = [_text(row.get("value")) for row in rows if _text(row.get("name")).lower() == "message-id"]
    found.append(_text(_part(mail, "commonHeaders").get("messageId")))
    return next((entry for text in found if text and (entry := own_entry(text))), None)

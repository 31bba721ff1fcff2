"""A parsed mail as plain data, for the command line and for anybody who wants JSON."""

from __future__ import annotations

from typing import Any

from inbox.mime.naming import display_name
from inbox.mime.types import Address, ParsedMail


def render(parsed: ParsedMail, file: str) -> dict[str, Any]:
    """The keys are a promise to scripts: none is ever left out, absent values are null, empty lists or ""."""
    return {
        "file": file,
        "status": parsed.status,
        "reason": parsed.reason,
        "subject": parsed.subject,
        "from": _address(parsed.from_),
        "from_ambiguous": parsed.from_ambiguous,
        "sender": _address(parsed.sender),
        "reply_to": [_address(item) for item in parsed.reply_to],
        "to": [_address(item) for item in parsed.to],
        "cc": [_address(item) for item in parsed.cc],
        "date": parsed.date.isoformat() if parsed.date is not None else None,
        "message_id": parsed.message_id,
        "in_reply_to": parsed.in_reply_to,
        "references": parsed.references,
        "class": parsed.mail_class,
        "class_reason": parsed.class_reason,
        "may_auto_answer": parsed.may_auto_answer,
        "text": parsed.text,
        "html": parsed.html,
        "reply_text": parsed.reply_text,
        "attachments": [
            {
                "filename": item.filename,
                "display_name": display_name(item),
                "content_type": item.content_type,
                "sniffed_type": item.sniffed_type,
                "size": item.size,
                "sha256": item.sha256,
                "inline": item.inline,
            }
            for item in parsed.attachments
        ],
        "warnings": parsed.warnings,
    }


def quarantined(reason: str, size: int) -> ParsedMail:
    """The answer for a mail that its parser child did not survive."""
    return ParsedMail(status="quarantined", reason=reason, size=size, may_auto_answer=False, class_reason="not read")


def _address(address: Address | None) -> dict[str, str] | None:
    return {"name": address.name, "address": address.address} if address is not None else None

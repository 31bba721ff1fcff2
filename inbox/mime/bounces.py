"""What a bounce says: whose delivery failed, for good or for now, and of which of our messages.

RFC 3464 reports are read here, since they name action, status and message. For the many forms before and
beside the RFC, flufl.bounce knows more than anybody would write again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from inbox.mime.addresses import clean_address
from inbox.mime.headers import Header, read_header
from inbox.mime.limits import DEFAULT_LIMITS
from inbox.mime.types import BounceReport, FailedRecipient, ParsedAttachment, ParsedMail

Action = Literal["failed", "delayed", "delivered", "relayed", "expanded", "complaint"]
_ACTIONS: dict[str, Action] = {
    "failed": "failed",
    "delayed": "delayed",
    "delivered": "delivered",
    "relayed": "relayed",
    "expanded": "expanded",
}
_BY_CLASS: dict[str, Action] = {"2": "delivered", "4": "delayed"}
# Three numbers (RFC 3463), and no part of a longer row of them, as the address of a server is.
_STATUS = re.compile(r"(?<![\w.])([245])\.(\d{1,3})\.(\d{1,3})(?![\w]|\.\d)")
_MESSAGE_ID = re.compile(r"^message-id:\s*<([^<>\s]{1,995})>", re.IGNORECASE | re.MULTILINE)
_ADDRESS = re.compile(r"<?([\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255})>?", re.ASCII)
_NEAR_FAILURE = re.compile(
    r"fail|undeliver|reject|unknown|not exist|no such|could not|unable to deliver|unzustellbar|550|552|554",
    re.IGNORECASE,
)
_MAX_RECIPIENTS = 200
_MAX_REPORT = 512 * 1024
_MAX_TEXT = 64 * 1024


def read_bounce(mail: ParsedMail) -> BounceReport | None:
    """None when the mail names no recipient at all."""
    recipients: list[FailedRecipient] = []
    mta: str | None = None
    for item in mail.attachments:
        if item.content is None or len(item.content) > _MAX_REPORT:
            continue
        if item.content_type in {"message/delivery-status", "message/global-delivery-status"}:
            found, mta = _delivery_status(item.content)
            recipients += found
        elif item.content_type == "message/feedback-report":
            recipients += _feedback(item.content)
    recipients = recipients or _by_field(mail) or _by_library(mail) or _by_text(mail)
    if not recipients:
        return None
    return BounceReport(recipients=recipients[:_MAX_RECIPIENTS], original_message_id=_original(mail), reporting_mta=mta)


def _blocks(content: bytes) -> list[Header]:
    """Groups of fields with empty lines between them (RFC 3464 §2.1)."""
    blocks: list[Header] = []
    position = 0
    while position < len(content) and len(blocks) <= _MAX_RECIPIENTS:
        header = read_header(content, position, len(content), DEFAULT_LIMITS)
        if header.fields:
            blocks.append(header)
        if header.body_start <= position:
            break
        position = header.body_start
    return blocks


def _delivery_status(content: bytes) -> tuple[list[FailedRecipient], str | None]:
    blocks = _blocks(content)
    mta = next((_typed(block.get("reporting-mta")) for block in blocks if block.get("reporting-mta")), None)
    found = []
    for block in blocks:
        recipient = clean_address(_typed(block.get("original-recipient")) or "") or clean_address(
            _typed(block.get("final-recipient")) or ""
        )
        if recipient is None:
            continue
        status = _STATUS.search(block.get("status")) or _STATUS.search(block.get("diagnostic-code"))
        action = _ACTIONS.get(block.get("action").strip().lower().split(" ")[0]) or _by_status(status)
        diagnostic = _typed(block.get("diagnostic-code"))
        found.append(FailedRecipient(recipient, action, status[0] if status else None, diagnostic))
    return found, mta


def _by_status(status: re.Match[str] | None) -> Action:
    return _BY_CLASS.get(status[1] if status else "5", "failed")


def _typed(value: str) -> str | None:
    """`rfc822; someone@example.com` without its type."""
    text = value.partition(";")[2] if ";" in value else value
    return " ".join(text.split())[:500] or None


def _feedback(content: bytes) -> list[FailedRecipient]:
    addresses = [clean_address(value) for block in _blocks(content) for value in block.all("original-rcpt-to")]
    return [FailedRecipient(address, "complaint") for address in addresses if address]


def _by_field(mail: ParsedMail) -> list[FailedRecipient]:
    """Exim's X-Failed-Recipients."""
    value = mail.header("x-failed-recipients") or ""
    status = _STATUS.search(mail.text[:_MAX_TEXT])
    found = [clean_address(item) for item in value.split(",")[:_MAX_RECIPIENTS]]
    return [FailedRecipient(address, "failed", status[0] if status else None) for address in found if address]


def _by_library(mail: ParsedMail) -> list[FailedRecipient]:
    """The library wants a standard-library message: a small one is built from what was read."""
    from email.message import Message

    from flufl.bounce import all_failures

    message = Message()
    for name in ("From", "Subject", "To"):
        message[name] = (mail.header(name) or "").encode("ascii", "replace").decode("ascii")
    message["Content-Type"] = "text/plain"
    message.set_payload(mail.text[:_MAX_TEXT])
    try:
        delayed, failed = all_failures(message)
    except Exception:  # noqa: BLE001 - seventy readers of strange texts; none may stop the mail
        return []
    status = _STATUS.search(mail.text[:_MAX_TEXT])
    code = status[0] if status else None
    return _named(failed, "failed", code) + _named(delayed, "delayed", code)


def _named(found: Iterable[bytes | str], action: Action, status: str | None) -> list[FailedRecipient]:
    texts = sorted(item.decode("ascii", "replace") if isinstance(item, bytes) else item for item in found)
    return [FailedRecipient(address, action, status) for text in texts if (address := clean_address(text))]


def _by_text(mail: ParsedMail) -> list[FailedRecipient]:
    """The first address on a line that speaks of failure, or right after one."""
    near = False
    for line in mail.text[:_MAX_TEXT].splitlines():
        near = near or _NEAR_FAILURE.search(line) is not None
        match = _ADDRESS.search(line) if near else None
        if match is not None:
            status = _STATUS.search(mail.text[:_MAX_TEXT])
            return [FailedRecipient(match[1], "failed", status[0] if status else None)]
    return []


def _original(mail: ParsedMail) -> str | None:
    """Our message comes back whole, as its header, or below the text."""
    for item in mail.attachments:
        if item.content_type in {"message/rfc822", "text/rfc822-headers", "message/rfc822-headers", "message/global"}:
            found = _id_in(item)
            if found:
                return found
    match = _MESSAGE_ID.search(mail.text[:_MAX_TEXT])
    return match[1] if match else next(iter(mail.in_reply_to), None)


def _id_in(item: ParsedAttachment) -> str | None:
    head = (item.content or b"")[:_MAX_REPORT]
    value = read_header(head, 0, len(head), DEFAULT_LIMITS).get("message-id").strip()
    return value.strip("<> ") or None

"""What an SES "Received" notification says: who got the mail, how it was judged, and where its bytes are."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import orjson

from kernel.errors import Invalid

_VERDICTS = ("spam", "virus", "spf", "dkim", "dmarc")
_KNOWN = frozenset({"PASS", "FAIL", "GRAY", "PROCESSING_FAILED"})


class NotUsable(Invalid):
    """A genuine notification that carries no mail that could be taken."""

    code = "ses_notification_not_usable"


@dataclass(frozen=True)
class Received:
    """One received mail. `message_id` is SES's own, which its retries repeat; `raw` is None where S3 has the bytes."""

    message_id: str
    envelope_from: str
    recipients: list[str]
    verdicts: dict[str, str]
    raw: bytes | None
    bucket: str = ""
    key: str = ""


def read(message: str) -> Received:
    """Read the `Message` of a verified notification; NotUsable when it is not a received mail."""
    try:
        content = orjson.loads(message)
        mail, receipt = content["mail"], content["receipt"]
        if content["notificationType"] != "Received":
            raise NotUsable("Only notifications of received mail are taken here.")
        recipients = [str(address) for address in receipt["recipients"]]
        action = receipt.get("action") or {}
        return Received(
            message_id=str(mail["messageId"])[:200],
            envelope_from=str(mail.get("source") or ""),
            recipients=recipients,
            verdicts=_verdicts(receipt),
            raw=_raw(content, action),
            bucket=str(action.get("bucketName") or ""),
            key=str(action.get("objectKey") or ""),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise NotUsable("The notification does not have the fields of an SES receipt.") from error


def _raw(content: dict[str, Any], action: dict[str, Any]) -> bytes | None:
    body = content.get("content")
    if body is None:
        if action.get("type") != "S3":
            raise NotUsable("The notification has no content. Let the rule store mail in S3, or send it inline.")
        return None
    if str(action.get("encoding", "")).upper() == "BASE64":
        return base64.b64decode(body, validate=True)
    return str(body).encode("utf-8", "surrogatepass")


def _verdicts(receipt: dict[str, Any]) -> dict[str, str]:
    """Upper-case states by short name; a state that Amazon does not document counts as unknown, never as PASS."""
    found = {}
    for name in _VERDICTS:
        status = str((receipt.get(f"{name}Verdict") or {}).get("status") or "").upper()
        found[name] = status if status in _KNOWN else "UNKNOWN"
    if receipt.get("dmarcPolicy"):
        found["dmarc_policy"] = str(receipt["dmarcPolicy"]).lower()
    return found

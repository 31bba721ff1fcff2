"""What an SES "Received" notification says: who got the mail, how it was judged, and where its bytes are."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from inbox.mime import verdicts
from kernel.errors import Invalid

_TEXTS = frozenset({"", "UTF-8", "UTF8"})
# Further actions of a rule can notify, too; only these two carry mail.
_CARRIERS = frozenset({"S3", "SNS"})


class NotUsable(Invalid):
    """A genuine notification of received mail that carries no mail which could be taken."""

    code = "ses_notification_not_usable"


@dataclass(frozen=True)
class Received:
    """One received mail. `message_id` is SES's own, which its retries repeat.

    `raw` is None where a bucket has the bytes, at `location` (`bucket/key`).
    """

    message_id: str
    envelope_from: str
    recipients: list[str]
    verdicts: dict[str, str]
    raw: bytes | None
    location: str = ""


def read(content: dict[str, Any]) -> Received | None:
    """Read a "Received" notification; None when another action of the rule sent it. Raises NotUsable."""
    try:
        mail, receipt = content["mail"], content["receipt"]
        action = receipt.get("action") or {}
        if str(action.get("type") or "") not in _CARRIERS and content.get("content") is None:
            return None
        recipients = [str(address) for address in receipt["recipients"]]
        message_id = str(mail["messageId"])[:200]
        if not recipients or not message_id:
            raise NotUsable("The notification names no recipient, or no message.")
        source = str(mail.get("source") or "")
        return Received(
            message_id=message_id,
            envelope_from=source,
            recipients=recipients,
            verdicts=verdicts.of_receipt(receipt, envelope_from=source),
            raw=_raw(content, action),
            location=_location(action),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotUsable("The notification does not have the fields of an SES receipt.") from error


def _raw(content: dict[str, Any], action: dict[str, Any]) -> bytes | None:
    body = content.get("content")
    if body is None:
        if action.get("type") != "S3":
            raise NotUsable("The notification has no content. Let the rule store mail in S3, or send it inline.")
        return None
    encoding = str(action.get("encoding") or "").upper()
    if encoding == "BASE64":
        try:
            return base64.b64decode(body, validate=True)
        except binascii.Error as error:
            raise NotUsable("The content is not base64.") from error
    if encoding not in _TEXTS:
        raise NotUsable(f"The content is encoded as {encoding[:20]!r}; BASE64 and UTF-8 are understood.")
    # What is no text in UTF-8 was replaced by SES before we see it. Base64 keeps the bytes, and docs/ses.md says so.
    return str(body).encode("utf-8", "surrogatepass")


def _location(action: dict[str, Any]) -> str:
    if action.get("type") != "S3":
        return ""
    return f"{action['bucketName']}/{action['objectKey']}"

"""Amazon SNS notifications: proof that Amazon signed them, for a topic that is ours (S0-37, §1.3).

Order of the checks: shape, topic allow-list, certificate address, signature. Nothing is fetched, confirmed or handled
for a topic that is not on the list. Both signature versions are understood: 1 is RSA with SHA-1, 2 with SHA-256.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from django.conf import settings

from kernel import clock, http
from kernel.errors import DomainError

MAX_BYTES: Final = 512 * 1024
MAX_AGE: Final = timedelta(hours=1)

_CERTIFICATE = re.compile(
    r"https://sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?/SimpleNotificationService-[0-9a-fA-F]{16,64}\.pem"
)
_CONFIRM_HOST = re.compile(r"sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?")
_TYPES = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    "UnsubscribeConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
_HASHES: Final[Mapping[str, type[hashes.HashAlgorithm]]] = {"1": hashes.SHA1, "2": hashes.SHA256}


class NotFromAmazon(DomainError):
    """The request is not a genuine notification of one of our topics."""

    code = "sns_refused"
    status = 403
    title = "Not a genuine notification"


@dataclass(frozen=True)
class Notification:
    """A verified SNS message."""

    type: str
    message_id: str
    topic_arn: str
    message: str
    subscribe_url: str = ""


def verify(body: bytes, *, header_topic: str = "") -> Notification:
    """The notification in `body`, or NotFromAmazon with the reason."""
    content = _content(body)
    topic = content["TopicArn"]
    if topic not in settings.SNS_TOPIC_ARNS:
        raise NotFromAmazon("The topic is not one of SNS_TOPIC_ARNS. Add it there if it is yours.")
    if header_topic and header_topic != topic:
        raise NotFromAmazon("The topic in the header is not the topic in the body.")
    _check_age(content["Timestamp"])
    _check_signature(content)
    return Notification(
        type=content["Type"],
        message_id=content["MessageId"],
        topic_arn=topic,
        message=content["Message"],
        subscribe_url=content.get("SubscribeURL", ""),
    )


def _content(body: bytes) -> dict[str, str]:
    if len(body) > MAX_BYTES:
        raise NotFromAmazon(f"A notification has at most {MAX_BYTES} bytes.")
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NotFromAmazon("The body is not JSON.") from error
    if not isinstance(content, dict) or content.get("Type") not in _TYPES:
        raise NotFromAmazon("The body is not an SNS notification.")
    required = {*_TYPES[content["Type"]], "Signature", "SignatureVersion", "SigningCertURL"} - {"Subject"}
    missing = sorted(name for name in required if not isinstance(content.get(name), str) or not content[name])
    if missing:
        raise NotFromAmazon(f"Fields are missing or no text: {', '.join(missing)}.")
    if not isinstance(content.get("Subject"), str | None):
        raise NotFromAmazon("Subject is no text.")
    return content


def _check_age(text: str) -> None:
    try:
        sent = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise NotFromAmazon("Timestamp is not an ISO 8601 instant in UTC.") from error
    if abs(clock.now() - sent) > MAX_AGE:
        raise NotFromAmazon("The notification is too old, or the clocks differ.")


def canonical(content: Mapping[str, Any]) -> bytes:
    """The signed text: `Name\\nValue\\n` of the fields of its type; Subject only where there is one."""
    names = [name for name in _TYPES[content["Type"]] if content.get(name) is not None]
    return "".join(f"{name}\n{content[name]}\n" for name in names).encode()


def _check_signature(content: Mapping[str, str]) -> None:
    algorithm = _HASHES.get(content["SignatureVersion"])
    if algorithm is None:
        raise NotFromAmazon("SignatureVersion must be 1 or 2.")
    key = _certificate(content["SigningCertURL"])
    try:
        signature = base64.b64decode(content["Signature"], validate=True)
        key.verify(signature, canonical(content), padding.PKCS1v15(), algorithm())
    except (binascii.Error, InvalidSignature, UnicodeError) as error:
        raise NotFromAmazon("The signature does not fit the content.") from error


def _certificate(url: str) -> rsa.RSAPublicKey:
    if not _CERTIFICATE.fullmatch(url):
        raise NotFromAmazon("SigningCertURL is not an address of an Amazon SNS certificate.")
    certificate, key = _load(url, settings.SNS_CERTIFICATE_FILE)
    now = clock.now()
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise NotFromAmazon("The signing certificate is not valid now.")
    return key


@lru_cache(maxsize=16)
def _load(url: str, local_file: str) -> tuple[x509.Certificate, rsa.RSAPublicKey]:
    """The certificate (with its key) behind a checked address, once per process; a local file stands in during development."""
    try:
        pem = Path(local_file).read_bytes() if local_file else http.fetch("GET", url, read_limit=32 * 1024).body
        certificate = x509.load_pem_x509_certificate(pem)
    except (OSError, ValueError, DomainError) as error:
        raise NotFromAmazon("The signing certificate cannot be read.") from error
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    key = certificate.public_key()
    if not names or names[0].value != "sns.amazonaws.com" or not isinstance(key, rsa.RSAPublicKey):
        raise NotFromAmazon("The certificate is not Amazon SNS's.")
    return certificate, key


def confirm(notification: Notification) -> None:
    """Answer a subscription request of an allowed topic: one GET, to Amazon only, without redirects."""
    target = urlsplit(notification.subscribe_url)
    query = parse_qs(target.query)
    fits = (
        target.scheme == "https"
        and _CONFIRM_HOST.fullmatch(target.netloc)
        and query.get("Action") == ["ConfirmSubscription"]
        and query.get("TopicArn") == [notification.topic_arn]
    )
    if not fits:
        raise NotFromAmazon("SubscribeURL is not a confirmation of this topic at Amazon.")
    reply = http.fetch("GET", notification.subscribe_url)
    if reply.status != 200:
        raise NotFromAmazon(f"Amazon answered the confirmation with {reply.status}.")

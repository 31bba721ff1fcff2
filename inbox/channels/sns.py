"""Amazon SNS notifications: proof that Amazon signed them, for a topic that is ours (S0-37, §1.3).

Order of the checks: shape, topic allow-list, certificate address, signature. Nothing is fetched, confirmed or handled
for a topic that is not on the list. Both signature versions are understood: 1 is RSA with SHA-1, 2 with SHA-256.

The certificate is trusted because it comes from the host of the topic's own region, over TLS. That host is compared
whole: a pattern such as `sns.*.amazonaws.com` would also take a bucket that somebody named `sns`.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

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
_MAX_CERTIFICATE: Final = 32 * 1024

_ARN = re.compile(r"arn:aws(-[a-z-]+)?:sns:([a-z]{2}(?:-[a-z]+)+-[0-9]{1,2}):[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_CERTIFICATE_PATH = re.compile(r"/SimpleNotificationService-[0-9a-fA-F]{16,64}\.pem")
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]{16,1024}")
_TYPES = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    "UnsubscribeConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
_HASHES: Final[Mapping[str, type[hashes.HashAlgorithm]]] = {"1": hashes.SHA1, "2": hashes.SHA256}
# What SNS says in headers beside the body; nobody signs it, so it may only agree.
_HEADERS: Final = {
    "x-amz-sns-topic-arn": "TopicArn",
    "x-amz-sns-message-type": "Type",
    "x-amz-sns-message-id": "MessageId",
}


class NotFromAmazon(DomainError):
    """The request is not a genuine notification of one of our topics."""

    code = "sns_refused"
    status = 403
    title = "Not a genuine notification"


class AmazonUnreachable(DomainError):
    """Amazon's own answer is needed first and did not come; SNS delivers again."""

    code = "sns_unavailable"
    status = 503
    title = "Amazon could not be asked"


@dataclass(frozen=True)
class Notification:
    """A verified SNS message. `token` and `subscribe_url` are of the two confirmations only."""

    type: str
    message_id: str
    topic_arn: str
    message: str
    signature_version: str
    subscribe_url: str = ""
    token: str = ""


def verify(body: bytes, *, headers: Mapping[str, str] | None = None) -> Notification:
    """The notification in `body`, or NotFromAmazon with the reason. `headers` are the request's, with any case."""
    given = {name.lower(): value for name, value in (headers or {}).items()}
    if given.get("x-amz-sns-rawdelivery", "").lower() == "true":
        raise NotFromAmazon("Raw delivery carries no signature. Turn RawMessageDelivery off for this subscription.")
    content = _content(body)
    topic = content["TopicArn"]
    if topic not in settings.SNS_TOPIC_ARNS:
        raise NotFromAmazon("The topic is not one of SNS_TOPIC_ARNS. Add it there if it is yours.")
    for header, name in _HEADERS.items():
        if header in given and given[header] != content[name]:
            raise NotFromAmazon(f"The header {header} does not say what {name} in the body says.")
    _check_age(content["Timestamp"])
    _check_signature(content)
    return Notification(
        type=content["Type"],
        message_id=content["MessageId"],
        topic_arn=topic,
        message=content["Message"],
        signature_version=content["SignatureVersion"],
        subscribe_url=content.get("SubscribeURL", ""),
        token=content.get("Token", ""),
    )


def _content(body: bytes) -> dict[str, str]:
    if len(body) > MAX_BYTES:
        raise NotFromAmazon(f"A notification has at most {MAX_BYTES} bytes.")
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NotFromAmazon("The body is not JSON.") from error
    if not isinstance(content, dict) or not isinstance(content.get("Type"), str) or content["Type"] not in _TYPES:
        raise NotFromAmazon("The body is not an SNS notification.")
    required = {*_TYPES[content["Type"]], "Signature", "SignatureVersion", "SigningCertURL"} - {"Subject"}
    missing = sorted(name for name in required if not isinstance(content.get(name), str) or not content[name])
    if missing:
        raise NotFromAmazon(f"Fields are missing or no text: {', '.join(missing)}.")
    if not isinstance(content.get("Subject"), str | None):
        raise NotFromAmazon("Subject is no text.")
    try:
        # The standard library's reader alone shows doubled names.
        json.loads(body, object_pairs_hook=_once)
    except RecursionError as error:
        raise NotFromAmazon("The body is nested too deep.") from error
    return content


def _once(pairs: Sequence[tuple[str, Any]]) -> None:
    """One reader takes the first of two fields with a name, another the last: whoever signs may mean the other one."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise NotFromAmazon("A field is there twice.")


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
    key = _certificate(content["SigningCertURL"], content["TopicArn"])
    try:
        signature = base64.b64decode(content["Signature"], validate=True)
        key.verify(signature, canonical(content), padding.PKCS1v15(), algorithm())
    except (InvalidSignature, ValueError) as error:
        raise NotFromAmazon("The signature does not fit the content.") from error


def _host(topic_arn: str) -> str:
    """The one host that speaks for a topic: SNS in the topic's own region and partition."""
    match = _ARN.fullmatch(topic_arn)
    if match is None:
        raise NotFromAmazon("The topic in SNS_TOPIC_ARNS is not the ARN of a standard topic. Correct the setting.")
    return f"sns.{match[2]}.amazonaws.com{'.cn' if match[1] == '-cn' else ''}"


def _certificate(url: str, topic_arn: str) -> rsa.RSAPublicKey:
    begin = f"https://{_host(topic_arn)}"
    if not url.startswith(begin) or not _CERTIFICATE_PATH.fullmatch(url[len(begin) :]):
        raise NotFromAmazon("SigningCertURL is not an address of an Amazon SNS certificate in the topic's region.")
    certificate, key = _load(url, settings.SNS_CERTIFICATE_FILE)
    now = clock.now()
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise NotFromAmazon("The signing certificate is not valid now.")
    return key


@lru_cache(maxsize=16)
def _load(url: str, local_file: str) -> tuple[x509.Certificate, rsa.RSAPublicKey]:
    """The certificate (with its key) behind a checked address, once per process; a local file stands in during development."""
    try:
        pem = Path(local_file).read_bytes() if local_file else _download(url)
        certificate = x509.load_pem_x509_certificate(pem)
    except (OSError, ValueError) as error:
        raise NotFromAmazon("The signing certificate cannot be read.") from error
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    key = certificate.public_key()
    if len(names) != 1 or names[0].value != "sns.amazonaws.com" or not isinstance(key, rsa.RSAPublicKey):
        raise NotFromAmazon("The certificate is not Amazon SNS's.")
    if certificate.issuer == certificate.subject:
        raise NotFromAmazon("The certificate vouches for itself; Amazon's is issued by its authority.")
    return certificate, key


def _download(url: str) -> bytes:
    reply = _get(url, read_limit=_MAX_CERTIFICATE)
    if reply.status != 200 or reply.truncated:
        raise NotFromAmazon(f"There is no certificate at SigningCertURL (answer {reply.status}).")
    return reply.body


def _get(url: str, *, read_limit: int) -> http.Reply:
    """One GET by the guarded client, which follows no redirect."""
    try:
        return http.fetch("GET", url, read_limit=read_limit)
    except (TimeoutError, OSError, DomainError) as error:
        raise AmazonUnreachable(f"Amazon SNS did not answer: {type(error).__name__}.") from error


def confirm(notification: Notification) -> None:
    """Answer a subscription request of an allowed topic: one GET, to Amazon only, without redirects.

    The address is put together here from the signed topic and token, and SubscribeURL must say just that: what was
    checked and what is called cannot differ by a parser.
    """
    host = _host(notification.topic_arn)
    query = {"Action": "ConfirmSubscription", "TopicArn": notification.topic_arn, "Token": notification.token}
    if not _TOKEN.fullmatch(notification.token) or not _says(notification.subscribe_url, host, query):
        raise NotFromAmazon("SubscribeURL is not a confirmation of this topic at Amazon.")
    reply = _get(f"https://{host}/?{urlencode(query)}", read_limit=16 * 1024)
    if reply.status != 200:
        raise AmazonUnreachable(f"Amazon answered the confirmation with {reply.status}.")


def _says(url: str, host: str, query: Mapping[str, str]) -> bool:
    """Whether a URL is `https://host/` with exactly these parameters, and has no part that could mean another place."""
    if not url.isascii() or not url.isprintable() or any(mark in url for mark in ' \\"<>#'):
        return False
    try:
        target = urlsplit(url)
        pairs = parse_qsl(target.query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return False
    return url.startswith(f"https://{host}/?") and target.path == "/" and sorted(pairs) == sorted(query.items())

"""A stand-in for Amazon SNS: signs notifications as SNS does, with a certificate made for this run."""

import base64
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from inbox.channels.sns import canonical
from kernel import clock

HOST = "sns.eu-central-1.amazonaws.com"
CERTIFICATE_URL = f"https://{HOST}/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"


def certificate(
    key: rsa.RSAPrivateKey, *, subject: str = "sns.amazonaws.com", issuer: str = "Stand-in authority", days: int = 30
) -> bytes:
    """A certificate in PEM, as Amazon's authority issues one. `days` below zero: it has ended."""
    now = clock.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days))
        # Nobody has the authority's key: what counts is where the certificate is fetched from.
        .sign(rsa.generate_private_key(public_exponent=65537, key_size=2048), hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


@dataclass
class Topic:
    """A topic with its signing key. `certificate` is where SNS_CERTIFICATE_FILE points in development."""

    arn: str
    certificate: Path

    def __post_init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.certificate.write_bytes(certificate(self.key))

    def notification(self, message: str, *, version: str = "2", message_id: str = "", **changes: str) -> bytes:
        """A signed notification; `changes` are made after signing, to show that they are noticed."""
        content = {
            "Type": "Notification",
            "MessageId": message_id or str(uuid4()),
            "TopicArn": self.arn,
            "Subject": "Amazon SES Email Receipt Notification",
            "Message": message,
        }
        return orjson.dumps(self.signed(content, version=version) | changes)

    def confirmation(self, kind: str = "SubscriptionConfirmation", **fields: str) -> bytes:
        """A signed request to confirm a subscription, or the notice that one ended; `fields` are signed as given."""
        token = uuid4().hex * 4
        query = urlencode({"Action": "ConfirmSubscription", "TopicArn": self.arn, "Token": token}, safe=":")
        content = {
            "Type": kind,
            "MessageId": str(uuid4()),
            "TopicArn": self.arn,
            "Message": f"You have chosen to subscribe to the topic {self.arn}.",
            "Token": token,
            "SubscribeURL": f"https://{HOST}/?{query}",
        }
        return orjson.dumps(self.signed(content | fields))

    def signed(self, content: dict[str, str], *, version: str = "2") -> dict[str, str]:
        """The fields with the time, the certificate's address and the signature."""
        whole = {
            "Timestamp": clock.now().strftime("%Y-%m-%dT%H:%M:%S.") + "000Z",
            "SignatureVersion": version,
            "SigningCertURL": CERTIFICATE_URL,
            **content,
        }
        algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()  # noqa: S303 - what SNS version 1 is
        signature = self.key.sign(canonical(whole), padding.PKCS1v15(), algorithm)
        return whole | {"Signature": base64.b64encode(signature).decode()}


def receipt(
    raw: bytes,
    *,
    ses_id: str,
    recipients: list[str],
    envelope_from: str,
    verdicts: dict[str, str] | None = None,
    stored_at: tuple[str, str] | None = None,
) -> str:
    """The `Message` of SES's notification for a received mail: content inline in base64, or `stored_at` (bucket, key)."""
    status = {"spam": "PASS", "virus": "PASS", "spf": "PASS", "dkim": "PASS", "dmarc": "PASS"} | (verdicts or {})
    policy = status.pop("dmarc_policy", None)
    stamp = clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")
    action = {"type": "SNS", "topicArn": "demo", "encoding": "BASE64"}
    if stored_at is not None:
        action = {"type": "S3", "topicArn": "demo", "bucketName": stored_at[0], "objectKey": stored_at[1]}
    content = {
        "notificationType": "Received",
        "mail": {
            "timestamp": stamp,
            "source": envelope_from,
            "messageId": ses_id,
            "destination": recipients,
            "headersTruncated": False,
        },
        "receipt": {
            "timestamp": stamp,
            "processingTimeMillis": 42,
            "recipients": recipients,
            "action": action,
            **({"dmarcPolicy": policy} if policy else {}),
            **{f"{name}Verdict": {"status": value} for name, value in status.items() if value},
        },
    }
    if stored_at is None:
        content["content"] = base64.b64encode(raw).decode()
    return orjson.dumps(content).decode()

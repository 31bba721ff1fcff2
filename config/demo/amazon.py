"""A stand-in for Amazon SNS: signs notifications as SNS does, with a certificate made for this run."""

import base64
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from inbox.channels.sns import canonical
from kernel import clock

CERTIFICATE_URL = (
    "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"
)


@dataclass
class Topic:
    """A topic with its signing key. `certificate` is where SNS_CERTIFICATE_FILE points in development."""

    arn: str
    certificate: Path

    def __post_init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
        now = clock.now()
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=30))
            .sign(self._key, hashes.SHA256())
        )
        self.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def notification(self, message: str, *, version: str = "2", message_id: str = "", **changes: str) -> bytes:
        """A signed notification; `changes` are made after signing, to show that they are noticed."""
        content = {
            "Type": "Notification",
            "MessageId": message_id or str(uuid4()),
            "TopicArn": self.arn,
            "Subject": "Amazon SES Email Receipt Notification",
            "Message": message,
            "Timestamp": clock.now().strftime("%Y-%m-%dT%H:%M:%S.") + "000Z",
            "SignatureVersion": version,
            "SigningCertURL": CERTIFICATE_URL,
        }
        algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()  # noqa: S303 - what SNS version 1 is
        signature = self._key.sign(canonical(content), padding.PKCS1v15(), algorithm)
        content["Signature"] = base64.b64encode(signature).decode()
        return orjson.dumps(content | changes)


def receipt(
    raw: bytes, *, ses_id: str, recipients: list[str], envelope_from: str, verdicts: dict[str, str] | None = None
) -> str:
    """The `Message` of SES's notification for a received mail, content inline in base64."""
    status = {"spam": "PASS", "virus": "PASS", "spf": "PASS", "dkim": "PASS", "dmarc": "PASS"} | (verdicts or {})
    stamp = clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")
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
            "action": {"type": "SNS", "topicArn": "demo", "encoding": "BASE64"},
            **{f"{name}Verdict": {"status": value} for name, value in status.items()},
        },
        "content": base64.b64encode(raw).decode(),
    }
    return orjson.dumps(content).decode()

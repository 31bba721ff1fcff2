"""SNS messages whose canonical strings are written out, and signed as they stand: Amazon's text, not our reader's."""

import base64
from datetime import timedelta
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from django.db import connection
from django.test import Client

from config.demo.amazon import CERTIFICATE_URL, HOST, Topic, receipt
from kernel import clock
from kernel.transactions import in_all_workspaces
from tests.factories.world import mail
from tests.inbox.conftest import ARN

PATH = CERTIFICATE_URL.removeprefix(f"https://{HOST}")
OTHER = "arn:aws:sns:eu-central-1:999999999999:inbound"
TOKEN = "2336412f37fb687f5d51e6e241d09c805a5a57b30d712f794cc5f6a988666d92768dd60a747ba6f3beb71854e285d6ad02428b09ceece29417f1f02d609c582afbacc99c583a916b9981dd2728f4ae6fdb82efd087cc3b7849e05798d2d2785c03b0879594eeac82c01f235d0e717736"


def post(body: bytes, **headers: str):
    return Client().post("/ingress/ses", data=body, content_type="text/plain", headers=headers)


def rows() -> list[tuple[str, str]]:
    """A checksum of every row that an ingress request could write."""
    tables = ("inbox_inboundmessage", "inbox_email", "webhooks_providerevent", "kernel_outboxevent", "audit_auditevent")
    found = []
    with in_all_workspaces("counting in a test"), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT coalesce(md5(string_agg(t::text, '' ORDER BY t::text)), '') FROM {table} t")
            found.append((table, cursor.fetchone()[0]))
    return found


def stamp(shift: timedelta = timedelta()) -> str:
    return (clock.now() + shift).strftime("%Y-%m-%dT%H:%M:%S.") + "123Z"


def sign(topic: Topic, text: str, *, version: str) -> str:
    algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
    return base64.b64encode(topic.key.sign(text.encode(), padding.PKCS1v15(), algorithm)).decode()


def received() -> str:
    return receipt(
        mail(), ses_id=f"ses-{uuid4().hex}", recipients=["support@acme.test"], envelope_from="ada@customer.test"
    )


def notification(
    topic: Topic, *, version: str = "2", subject: str | None = "Über Grüße", **fields: str
) -> dict[str, Any]:
    """A notification whose canonical string is written out: Amazon's text, not ours."""
    made = {"Type": "Notification", "MessageId": str(uuid4()), "TopicArn": ARN, "Timestamp": stamp()} | fields
    made.setdefault("Message", received())
    line = f"Subject\n{subject}\n" if subject is not None else ""
    text = (
        f"Message\n{made['Message']}\nMessageId\n{made['MessageId']}\n{line}Timestamp\n{made['Timestamp']}\n"
        f"TopicArn\n{made['TopicArn']}\nType\nNotification\n"
    )
    made |= {"Subject": subject} if subject is not None else {}
    made |= {"SignatureVersion": version, "SigningCertURL": CERTIFICATE_URL}
    return made | {"Signature": sign(topic, text, version=version)}


def confirmation(topic: Topic, *, kind: str = "SubscriptionConfirmation", version: str = "2", **fields: str):
    """One of the two confirmations, with Amazon's spelling of SubscribeURL unless told otherwise."""
    url = f"https://{HOST}/?Action=ConfirmSubscription&TopicArn={ARN}&Token={TOKEN}"
    made = {"Type": kind, "MessageId": str(uuid4()), "TopicArn": ARN, "Token": TOKEN, "Message": "You have chosen…"}
    made |= {"SubscribeURL": url, "Timestamp": stamp()} | fields
    text = (
        f"Message\n{made['Message']}\nMessageId\n{made['MessageId']}\nSubscribeURL\n{made['SubscribeURL']}\n"
        f"Timestamp\n{made['Timestamp']}\nToken\n{made['Token']}\nTopicArn\n{made['TopicArn']}\nType\n{made['Type']}\n"
    )
    made |= {"SignatureVersion": version, "SigningCertURL": CERTIFICATE_URL}
    return made | {"Signature": sign(topic, text, version=version)}

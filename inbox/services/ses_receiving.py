"""SES notifications into stored messages."""

from django.conf import settings

from inbox.channels import s3, ses_inbound, sns
from inbox.services import accepting
from kernel.context import Actor, acting_as

SES = Actor(kind="system", id="ses", label="Amazon SES")


def receive(body: bytes, *, header_topic: str = "") -> str:
    """Verify and take one SNS request; `confirmed`, `accepted`, `duplicate` or `ignored`.

    Raises sns.NotFromAmazon, ses_inbound.NotUsable or accepting.TooLarge: SNS then tries again, and nothing is lost.
    """
    notification = sns.verify(body, header_topic=header_topic)
    if notification.type == "SubscriptionConfirmation":
        sns.confirm(notification)
        return "confirmed"
    if notification.type != "Notification":
        return "ignored"
    received = ses_inbound.read(notification.message)
    raw = received.raw if received.raw is not None else _stored(received)
    with acting_as(SES):
        accepted = accepting.accept(
            source="ses",
            provider_message_id=received.message_id,
            raw=raw,
            recipients=received.recipients,
            envelope_from=received.envelope_from,
            verdicts=dict(received.verdicts),
        )
    return "accepted" if any(row.is_new for row in accepted) else "duplicate"


def _stored(received: ses_inbound.Received) -> bytes:
    return s3.fetch(
        bucket=received.bucket,
        key=received.key,
        region=settings.AWS_REGION,
        endpoint=settings.AWS_ENDPOINT_URL,
        limit=settings.MAIL_MAX_BYTES,
    )

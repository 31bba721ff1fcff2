"""What Amazon SES says through SNS: received mail into stored messages, news of sent mail into the queue of news."""

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings

from inbox.channels import s3, ses_events, ses_inbound, sns
from inbox.channels.s3 import NotFetched
from inbox.channels.ses_inbound import Received
from inbox.channels.sns import Notification
from inbox.services import accepting, delivery_news
from inbox.services.delivery_news import Callback
from kernel.context import Actor, acting_as

logger = logging.getLogger(__name__)

SES = Actor(kind="system", id="ses", label="Amazon SES")


def receive(body: bytes, *, headers: Mapping[str, str] | None = None) -> str:
    """Verify and take one SNS request.

    `accepted` and `duplicate` are of mail and of news; `unmatched` is news of mail that is not ours; `confirmed`,
    `unsubscribed` and `ignored` need nothing further, and are kept to be seen.

    Raises sns.NotFromAmazon, sns.AmazonUnreachable, ses_inbound.NotUsable or accepting.TooLarge: SNS then tries again,
    and nothing is lost.
    """
    notification = sns.verify(body, headers=headers)
    with acting_as(SES):
        if notification.type == "SubscriptionConfirmation":
            sns.confirm(notification)
            _note(notification, "subscription.confirmed", "One GET to Amazon, for a topic of SNS_TOPIC_ARNS.")
            return "confirmed"
        if notification.type == "UnsubscribeConfirmation":
            # Its SubscribeURL would subscribe again. Whether that is wanted, a person knows.
            logger.warning("an SNS subscription ended", extra={"topic": notification.topic_arn})
            _note(
                notification, "subscription.ended", "SNS sends no more of this topic. Subscribe again if that is wrong."
            )
            return "unsubscribed"
        return _notified(notification)


def _notified(notification: Notification) -> str:
    content = _json(notification.message)
    if content.get("notificationType") == "Received":
        received = ses_inbound.read(content)
        if received is not None:
            return _mail(received)
    news = ses_events.read(content)
    if news is None:
        kind = str(content.get("notificationType") or content.get("eventType") or "text")[:40]
        _note(notification, kind, "Nothing follows from this message.", content)
        return "ignored"
    callback = Callback(
        event_id=notification.message_id,
        signature=f"sns:{notification.signature_version}",
        kind=news.kind,
        payload=content,
        key=news.key,
    )
    return delivery_news.take(callback, news)


def _json(text: str) -> dict[str, Any]:
    """SES speaks JSON; the notes with which it tries out a topic are plain text."""
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError:
        content = None
    return content if isinstance(content, dict) else {"text": text[:2_000]}


def _mail(received: Received) -> str:
    raw, location = received.raw, ""
    if raw is None:
        raw, location = _stored(received.location)
    accepted = accepting.accept(
        source="ses",
        provider_message_id=received.message_id,
        raw=raw,
        recipients=received.recipients,
        envelope_from=received.envelope_from,
        verdicts=dict(received.verdicts),
        location=location,
    )
    return "accepted" if any(row.is_new for row in accepted) else "duplicate"


def _stored(location: str) -> tuple[bytes, str]:
    """The bytes from the bucket; or none, and where they are, so that the ingest tries again and says why it cannot."""
    try:
        return fetch(location), ""
    except NotFetched as error:
        logger.warning("stored mail could not be fetched", extra={"why": str(error)})
        return b"", location


def fetch(location: str) -> bytes:
    """The bytes of a mail in one of our buckets. Raises s3.NotFetched."""
    return s3.fetch(
        location,
        allowed=settings.SES_BUCKETS,
        region=settings.AWS_REGION,
        endpoint=settings.AWS_ENDPOINT_URL,
        limit=settings.MAIL_MAX_BYTES,
    )


def _note(notification: Notification, kind: str, reason: str, payload: dict[str, Any] | None = None) -> None:
    """Keep what nothing follows from, for a person to see."""
    identity = f"{notification.topic_arn}\n{notification.message_id}"
    callback = Callback(
        event_id=notification.message_id,
        signature=f"sns:{notification.signature_version}",
        kind=kind,
        payload=payload or {"topic": notification.topic_arn, "text": notification.message[:2_000]},
        key=hashlib.sha256(identity.encode()).digest(),
    )
    delivery_news.keep(callback, reason=reason)

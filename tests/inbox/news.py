"""News of SES in the form of Amazon's documentation, and mail for it to be about."""

from typing import Any
from uuid import uuid4

import orjson

from inbox.models import Entry, OutboundMessage
from inbox.services import replying, sending
from inbox.types import OutboundKind
from kernel import clock, outbox
from kernel.context import Actor
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.factories.world import House, deliver, mail
from tests.inbox.test_ingress import post

ADA, BOB = "ada@customer.test", "bob@customer.test"
PERSON = Actor(kind="user", id="u1", label="Mika")


def write(place: House, *, to: str = ADA, text: str = "Soon.") -> OutboundMessage:
    """An answer to a mail of somebody, queued."""
    accepted = deliver(mail(sender=to, to=place.inbox.address), place.inbox.address, envelope_from=to)
    with in_workspace(place.id):
        queued = replying.queue_reply(
            email_id=accepted[0].email_id,
            text=text,
            kind=OutboundKind.HUMAN,
            idempotency_key=uuid4().hex,
            automatic=False,
            author=PERSON,
        )
        return OutboundMessage.objects.select_related("entry").get(id=queued.outbound_message_id)


def send(place: House, **options: Any) -> OutboundMessage:
    """The same, sent."""
    message = write(place, **options)
    while sending.send_due():
        pass
    return again(message)


def again(row: Any) -> Any:
    with in_all_workspaces("looking in a test"):
        rows = type(row).objects.all()
        return (rows.select_related("entry") if isinstance(row, OutboundMessage) else rows).get(id=row.id)


def drain() -> None:
    while outbox.drain():
        pass


def news(kind: str, ses_id: str, *to: str, at: Any = None, form: str = "eventType", **part: Any) -> dict[str, Any]:
    """A notification or an event of SES, in the form of Amazon's documentation."""
    stamp = (at or clock.now()).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    to = to or (ADA,)
    mail_part = {"timestamp": stamp, "source": "support@acme.test", "messageId": ses_id, "destination": list(to)}
    content: dict[str, Any] = {form: kind, "mail": mail_part | part.pop("mail", {})}
    rows = [{"emailAddress": address, "action": "failed", **part.pop("recipient", {})} for address in to]
    bodies = {
        "Delivery": ("delivery", {"timestamp": stamp, "recipients": list(to), "smtpResponse": "250 2.0.0 OK"}),
        "Bounce": (
            "bounce",
            {
                "timestamp": stamp, "bounceType": "Permanent", "bounceSubType": "NoEmail", "bouncedRecipients": rows,
                "feedbackId": f"{ses_id}-bounce", "reportingMTA": "dsn; mx.customer.test",
            },
        ),
        "Complaint": (
            "complaint",
            {
                "timestamp": stamp, "complainedRecipients": rows, "feedbackId": f"{ses_id}-complaint",
                "complaintFeedbackType": "abuse",
            },
        ),
        "DeliveryDelay": (
            "deliveryDelay", {"timestamp": stamp, "delayType": "MailboxFull", "delayedRecipients": rows}
        ),
        "Reject": ("reject", {"reason": "Bad content"}),
        "Rendering Failure": ("failure", {"errorMessage": "Attribute 'name' is not present"}),
        "Send": ("send", {}),
    }  # fmt: skip
    name, body = bodies[kind]
    return content | {name: body | part}


def tell(topic, content: dict[str, Any] | str, **options: Any) -> str:
    text = content if isinstance(content, str) else orjson.dumps(content).decode()
    answer = post(topic.notification(text, **options))
    assert answer.status_code == 200, answer.content
    return answer.json()["status"]


def facts(place: House, entry: Entry) -> list[str]:
    with in_workspace(place.id):
        rows = OutboxEvent.objects.filter(payload__entry_id=str(entry.id)).order_by("id")
        return [slug.removeprefix("entry.") for slug in rows.values_list("slug", flat=True)]

"""What the mail listener asks and hands over."""

from django.db import close_old_connections

from inbox.models import Inbox
from inbox.normalise import lenient, without_tag
from inbox.services import accepting
from kernel.context import Actor, acting_as
from kernel.transactions import in_all_workspaces

LISTENER = Actor(kind="system", id="listener", label="mail listener")


def knows(recipient: str) -> bool:
    """Whether an inbox has this address; strangers' probing is answered at RCPT, before any content."""
    exact = lenient(recipient)
    close_old_connections()
    with in_all_workspaces("the listener serves every workspace"):
        return Inbox.objects.filter(address_normalized__in=[exact, without_tag(exact)]).exists()


def take(envelope_from: str, recipients: list[str], raw: bytes, source: str) -> None:
    """Store a message. The same bytes again are the same message: a sender that missed our 250 repeats them."""
    close_old_connections()
    with acting_as(LISTENER):
        accepting.accept(
            source=source,
            provider_message_id=accepting.content_id(raw),
            raw=raw,
            recipients=recipients,
            envelope_from=envelope_from or "<>",
        )

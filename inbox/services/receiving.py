"""What the mail listener asks and hands over."""

from django.db import close_old_connections

from inbox import policy as policies
from inbox.models import Inbox
from inbox.normalise import lenient, without_tag
from inbox.services import accepting
from kernel.context import Actor, acting_as
from kernel.transactions import in_all_workspaces

LISTENER = Actor(kind="system", id="listener", label="mail listener")


def knows(recipient: str) -> bool:
    """Whether an inbox takes mail under this address; the answer is given at RCPT, before any content.

    An inbox that is switched off refuses here when its policy says `bounce`.
    """
    exact = lenient(recipient)
    close_old_connections()
    with in_all_workspaces("the listener serves every workspace"):
        rows = Inbox.objects.filter(address_normalized__in=[exact, without_tag(exact)])
        found = {row.address_normalized: row for row in rows.only("address_normalized", "active", "policy")}
    # The exact address goes before the one without its tag, as it does when the mail is accepted.
    inbox = found.get(exact) or found.get(without_tag(exact))
    return inbox is not None and (inbox.active or policies.parse(inbox.policy).when_inactive != "bounce")


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

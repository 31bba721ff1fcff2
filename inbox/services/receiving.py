"""What the mail listener asks and hands over."""

from django.db import close_old_connections, connection

from inbox import policy as policies
from inbox.models import Inbox
from inbox.normalise import looked_for
from inbox.services import accepting
from kernel.context import Actor, acting_as
from kernel.transactions import in_all_workspaces

LISTENER = Actor(kind="system", id="listener", label="mail listener")


def knows(recipient: str) -> bool:
    """Whether an inbox takes mail under this address; the answer is given at RCPT, before any content.

    The inbox is the one that acceptance would find (own address, alias, tag or catch-all). Switched off, it refuses here
    when its policy says `bounce`. An address that no inbox has is refused, though its domain be ours: its sender learns
    of the mistake. Where nobody can be refused any more, acceptance keeps such mail in quarantine.
    """
    close_old_connections()
    with in_all_workspaces("the listener serves every workspace"), connection.cursor() as cursor:
        cursor.execute("SELECT inbox_id FROM inbox_route_v1(%s, %s, %s)", looked_for(recipient))
        row = cursor.fetchone()
        inbox = Inbox.objects.filter(id=row[0]).only("active", "policy").first() if row else None
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

"""Release what was put aside: a person looked at it, and it is read again."""

from uuid import UUID

from django.db.models import F

from audit.services import record
from inbox.models import Email, InboundMessage
from inbox.services import accepting, progress
from inbox.types import EmailState, MessageState
from kernel import clock, context, nudge
from kernel.errors import Conflict, NotFound
from kernel.transactions import after_commit, in_workspace


def replay(*, workspace_id: UUID, inbound_message_id: UUID) -> None:
    """Read a quarantined message again, or route it anew when nobody claimed it before.

    A spam verdict is lifted by this (the person has decided), a virus verdict is not.
    """
    with in_workspace(workspace_id):
        message = InboundMessage.objects.select_for_update().filter(id=inbound_message_id).first()
        if message is None:
            raise NotFound
        emails = list(Email.objects.filter(inbound_message_id=message.id, state=EmailState.QUARANTINED))
        if message.state != MessageState.QUARANTINED and not emails:
            raise Conflict("Only quarantined mail can be replayed.")
        verdicts = {**message.verdicts, "spam": "", "released_by": context.actor.get().label}
        for email in emails:
            progress.move(email_id=email.id, to=EmailState.STORED, reason="released")
        record(
            workspace_id=workspace_id,
            action="quarantine.replay",
            resource_kind="inbound_message",
            resource_id=message.id,
            payload={"reason": message.reason},
        )
        if Email.objects.filter(inbound_message_id=message.id).exists():
            InboundMessage.objects.filter(id=message.id).update(
                state=MessageState.STORED,
                attempts=0,
                due_at=clock.now(),
                lease_token=F("lease_token") + 1,
                reason="",
                verdicts=verdicts,
            )
            after_commit(lambda: nudge.wake("inbox.tasks.process_messages"))
            return
        _route_again(message)


def _route_again(message: InboundMessage) -> None:
    """No inbox was there when it came; the one that is there now gets it. What is here stays as the trace of it."""
    accepted = accepting.accept(
        source=message.source,
        provider_message_id=f"{message.provider_message_id}#again"[:200],
        raw=bytes(message.raw),
        envelope_from=message.envelope_from,
        recipients=message.recipients,
        verdicts=message.verdicts,
        location=message.location,
    )
    if not any(row.email_id for row in accepted):
        raise Conflict("Still no inbox takes these recipients. Open one on the address and replay again.")
    InboundMessage.objects.filter(id=message.id).update(state=MessageState.DONE, reason="routed again")

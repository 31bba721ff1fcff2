"""What agents do on facts of the inbox: begin on received mail, end on news of their replies."""

from collections.abc import Sequence
from uuid import UUID

from agents.services import approving, settling, starting
from inbox.events import EmailHandled, EmailReceived, EntrySent, SendFailed, SendUncertain
from kernel.claims import Delivered
from kernel.outbox import consume


@consume(EmailReceived, name="agents.start_run")
def start_run(events: Sequence[Delivered]) -> None:
    """Give the mail to the agent of its inbox."""
    for event in events:
        starting.start(email_id=UUID(event.payload["email_id"]), workspace_id=event.workspace_id)


@consume(EntrySent, name="agents.reply_sent")
def reply_sent(events: Sequence[Delivered]) -> None:
    """An entry is out; when an agent wrote it, its run has succeeded."""
    for event in events:
        settling.sent(entry_id=UUID(event.payload["entry_id"]), provider_ref=event.payload["provider_ref"])


@consume(SendFailed, name="agents.reply_failed")
def reply_failed(events: Sequence[Delivered]) -> None:
    """An entry was refused; when an agent wrote it, a person takes over."""
    for event in events:
        settling.failed(entry_id=UUID(event.payload["entry_id"]), error=event.payload["error"])


@consume(SendUncertain, name="agents.reply_uncertain")
def reply_uncertain(events: Sequence[Delivered]) -> None:
    """Nobody knows whether an entry is out; when an agent wrote it, a person looks."""
    for event in events:
        settling.uncertain(entry_id=UUID(event.payload["entry_id"]), error=event.payload["error"])


@consume(EmailHandled, name="agents.mail_handled")
def mail_handled(events: Sequence[Delivered]) -> None:
    """A mail is handled, by the agent itself or by a person: what is still asked about it is moot."""
    for event in events:
        approving.withdraw(email_id=UUID(event.payload["email_id"]))

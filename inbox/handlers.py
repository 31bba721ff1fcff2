"""What the inbox does on facts: its workers wake up, and news of sent mail is written down."""

from collections.abc import Sequence
from uuid import UUID

from inbox.events import EmailReceived, EntryQueued, MessageStored, ProviderEventReceived
from inbox.services import acknowledging, delivery_news, tending
from kernel import nudge
from kernel.claims import Delivered
from kernel.outbox import consume
from kernel.transactions import after_commit
from tenancy.events import MemberRemoved, MemberSuspended


@consume(MessageStored, name="inbox.process_message", batch=True)
def process_message(events: Sequence[Delivered]) -> None:
    """The rows are the queue; this only makes sure that somebody looks."""
    after_commit(lambda: nudge.wake("inbox.tasks.process_messages"))


@consume(EmailReceived, name="inbox.acknowledge")
def acknowledge(events: Sequence[Delivered]) -> None:
    """Say that it has come, where the inbox's policy wants that."""
    for event in events:
        acknowledging.acknowledge(email_id=UUID(event.payload["email_id"]))


@consume(EntryQueued, name="inbox.send_entry", batch=True)
def send_entry(events: Sequence[Delivered]) -> None:
    """A reply waits to be sent."""
    after_commit(lambda: nudge.wake("inbox.tasks.send_mail"))


@consume(MemberSuspended, name="inbox.take_from_suspended")
def take_from_suspended(events: Sequence[Delivered]) -> None:
    """What was theirs is nobody's, so that others see it."""
    _take_from(events)


@consume(MemberRemoved, name="inbox.take_from_removed")
def take_from_removed(events: Sequence[Delivered]) -> None:
    """What was theirs is nobody's, so that others see it."""
    _take_from(events)


def _take_from(events: Sequence[Delivered]) -> None:
    for event in events:
        tending.take_from(workspace_id=event.workspace_id, membership_id=UUID(event.payload["membership_id"]))


@consume(ProviderEventReceived, name="inbox.apply_news")
def apply_news(events: Sequence[Delivered]) -> None:
    """Write what a provider said onto the entry that it is about."""
    for event in events:
        delivery_news.apply(provider_event_id=UUID(event.payload["provider_event_id"]))

"""Conversations to work on: mails, answers and notes, told in short words; and what must hold of them."""

from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from config import invariants
from inbox.models import Entry, OutboundMessage, Thread
from inbox.queries import conversations
from inbox.services import rearranging, replying
from inbox.types import Direction, OutboundKind
from kernel import clock
from kernel.context import Actor
from kernel.transactions import in_workspace
from tests.factories.every import make
from tests.factories.world import House, deliver, mail

PERSON = Actor(kind="user", id="u1", label="Mika")
# Of config.invariants, those about conversations.
KEPT = (
    "seq rises with time within a thread",
    "a thread's counters equal its entries",
    "the open turn is the first unanswered mail of a person",
    "no thread is merged in a circle, and none that was merged has entries",
)


def write(place: House, who: str = "ada", *, cites: str = "", said: str = "", **headers: str) -> Entry:
    """A mail of somebody into the house's inbox; the entry that it became."""
    sender = who if "@" in who else f"{who}@customer.test"
    options: dict[str, Any] = {"message_id": f"<{said or uuid4().hex}@customer.test>"} | headers
    if cites:
        options["in_reply_to"] = cites if cites.startswith("<") else f"<{cites}@customer.test>"
    options.setdefault("to", place.inbox.address)
    (row,) = deliver(mail(sender=sender, **options), place.inbox.address, envelope_from=sender)
    return entry_of(place, row.email_id)


def entry_of(place: House, email_id: UUID) -> Entry:
    with in_workspace(place.id):
        return Entry.objects.select_related("email", "thread").get(email_id=email_id)


def answer(place: House, entry: Entry, *, kind: OutboundKind = OutboundKind.HUMAN, automatic: bool = False) -> Entry:
    """A reply to a mail, queued."""
    with in_workspace(place.id):
        queued = replying.queue_reply(
            email_id=entry.email_id, text="We look into it.", kind=kind, idempotency_key=uuid4().hex,
            automatic=automatic, author=PERSON,
        )  # fmt: skip
        return Entry.objects.select_related("outbound").get(id=queued.entry_id)


def aside(place: House, thread_id: UUID, text: str = "look") -> Entry:
    """An internal entry at the end of a conversation, in whatever that was merged into."""
    with in_workspace(place.id):
        row = conversations.lock_thread(thread_id)
        entry = make(Entry, place.id, thread=row, direction=Direction.INTERNAL, body_text=text, occurred_at=clock.now())
        rearranging.recount(row.id)
        return entry


def sent_id(place: House, entry: Entry) -> str:
    """The Message-ID of an answer."""
    with in_workspace(place.id):
        return OutboundMessage.objects.get(entry_id=entry.id).message_id


def thread(place: House, thread_id: UUID) -> Thread:
    with in_workspace(place.id):
        return Thread.objects.get(id=thread_id)


def talk(place: House) -> list[list[UUID]]:
    """The live conversations as lists of entries, the oldest first."""
    with in_workspace(place.id):
        rows = Thread.objects.filter(merged_into=None).order_by("created_at", "id")
        return [list(Entry.objects.filter(thread=row).order_by("seq").values_list("id", flat=True)) for row in rows]


def broken(place: House) -> dict[str, int]:
    """What does not hold in a workspace, of the invariants about conversations."""
    found = {}
    with in_workspace(place.id), connection.cursor() as cursor:
        for name in KEPT:
            cursor.execute(invariants.CHECKS[name])
            count = int(cursor.fetchone()[0])
            if count:
                found[name] = count
    return found

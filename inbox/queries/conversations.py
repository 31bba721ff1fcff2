"""Reading conversations: the context of a mail for its agent, and the lock that orders a thread."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import DateTimeField, Func, Prefetch, Q, QuerySet, UUIDField, Value

from files.queries import is_open
from inbox import policy as policies
from inbox.mime import verdicts
from inbox.models import Attachment, Email, Entry, EntryRecipient, Thread
from inbox.normalise import lenient
from inbox.policy import InboxPolicy
from inbox.queries import authors
from kernel.errors import NotFound

_HISTORY = 20
_MAX_MERGES = 20


@dataclass(frozen=True)
class HistoryEntry:
    """An earlier entry, as an agent may read it."""

    direction: str
    author_label: str
    text: str
    at: datetime


@dataclass(frozen=True)
class MailFacts:
    """What decides who answers a mail. Everything in it but ids, flags and policy is a stranger's data."""

    workspace_id: UUID
    email_id: UUID
    inbox_id: UUID
    inbox_address: str
    inbox_name: str
    inbox_active: bool
    agent_id: UUID | None
    policy: InboxPolicy
    thread_id: UUID
    entry_id: UUID
    contact_id: UUID | None
    subject: str
    from_name: str
    from_address: str
    author_address: str  # that of From, or of whoever wrote through an address of ours
    reply_to_differs: bool
    text: str
    full_text: str
    received_at: datetime
    mail_class: str
    may_auto_answer: bool
    verdicts: dict[str, Any]
    # Nobody vouches for the sender as far as the inbox's policy asks for it: a person decides what leaves.
    sender_doubted: bool
    hops: int


@dataclass(frozen=True)
class MailContext(MailFacts):
    """All that an agent learns of a mail."""

    attachments: list[str]
    history: list[HistoryEntry]


def mail_facts(*, email_id: UUID) -> MailFacts:
    """The facts of an e-mail of the current workspace; NotFound when it has no entry."""
    return _facts(_entry_of(email_id))


def mail_context(*, email_id: UUID) -> MailContext:
    """The same with its files and what was said before."""
    entry = _entry_of(email_id)
    files = Attachment.objects.select_related("file").filter(entry_id=entry.id).order_by("position")
    earlier = shown(Entry.objects.filter(thread_id=entry.thread_id, seq__lt=entry.seq)).order_by("-seq")[:_HISTORY]
    return MailContext(
        **vars(_facts(entry)),
        # What is kept away from people is not named to agents either: a name is a sentence, too.
        attachments=[row.filename for row in files if is_open(row.file.scan_state)],
        history=[
            HistoryEntry(row.direction, row.author_label, row.extracted_text, row.occurred_at)
            for row in reversed(list(earlier))
        ],
    )


def _entry_of(email_id: UUID) -> Entry:
    entry = Entry.objects.select_related("email", "inbox").filter(email_id=email_id).first()
    if entry is None or entry.email is None:
        raise NotFound
    return entry


def _facts(entry: Entry) -> MailFacts:
    email, policy = entry.email, policies.parse(entry.inbox.policy)
    assert email is not None
    return MailFacts(
        workspace_id=email.workspace_id,
        email_id=email.id,
        inbox_id=entry.inbox_id,
        inbox_address=entry.inbox.address,
        inbox_name=entry.inbox.name,
        inbox_active=entry.inbox.active and entry.inbox.deleted_at is None,
        agent_id=entry.inbox.agent_id,
        policy=policy,
        thread_id=entry.thread_id,
        entry_id=entry.id,
        contact_id=entry.contact_id,
        subject=email.subject,
        from_name=email.from_name,
        from_address=email.from_address,
        author_address=authors.of(email)[1],
        reply_to_differs=reply_to_differs(email),
        text=entry.extracted_text,
        full_text=entry.body_text,
        received_at=email.received_at,
        mail_class=email.mail_class,
        may_auto_answer=email.may_auto_answer,
        verdicts=email.verdicts,
        sender_doubted=verdicts.must_ask(email.verdicts, policy, sender=email.from_address),
        hops=email.hops,
    )


def shown(entries: "QuerySet[Entry]") -> "QuerySet[Entry]":
    """Without those whose mail was deleted."""
    return entries.filter(Q(email=None) | Q(email__deleted_at=None))


def with_belongings(entries: "QuerySet[Entry]") -> "QuerySet[Entry]":
    """Each with its `shown_attachments` and `shown_recipients`: plain lists, since a relation that was fetched before
    costs a queryset for each entry, and most entries have neither."""
    files = Attachment.objects.select_related("file").order_by("position")
    recipients = EntryRecipient.objects.order_by("address")
    return entries.prefetch_related(
        Prefetch("attachments", files, to_attr="shown_attachments"),
        Prefetch("recipients", recipients, to_attr="shown_recipients"),
    )


def reply_to_differs(email: Email) -> bool:
    """Whether Reply-To leads to another domain than From: a warning to people, a barrier to agents (FS-4)."""
    sender = lenient(email.from_address).rpartition("@")[2]
    return any(lenient(item["address"]).rpartition("@")[2] != sender for item in email.reply_to)


def thread(thread_id: UUID) -> Thread | None:
    """A conversation of the current workspace."""
    return Thread.objects.filter(id=thread_id).first()


def end_of(thread_id: UUID) -> Thread | None:
    """The conversation of the current workspace that a thread is, or was in the end merged into."""
    found = thread(thread_id)
    for _ in range(_MAX_MERGES):
        if found is None or found.merged_into_id is None:
            return found
        found = thread(found.merged_into_id)
    return None


def merged_into(thread_id: UUID) -> list[UUID]:
    """The conversation itself, and all that were merged into it, directly or through others."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE found(id) AS (SELECT %s::uuid UNION SELECT t.id FROM found f"
            " JOIN inbox_thread t ON t.merged_into_id = f.id) SELECT id FROM found",
            [thread_id],
        )
        return [row[0] for row in cursor.fetchall()]


def lock_thread(thread_id: UUID) -> Thread:
    """The thread (or the one that it was merged into), locked until commit: `seq` is taken under this lock."""
    for _ in range(_MAX_MERGES):
        # A merged one is passed by without a lock, so that nobody holds one thread and waits for another.
        thread = Thread.objects.select_for_update(no_key=True).filter(id=thread_id, merged_into=None).first()
        if thread is not None:
            return thread
        row = Thread.objects.filter(id=thread_id).values_list("merged_into_id").first()
        if row is None:
            raise NotFound("The conversation is not there any more.")
        # None: the merge was undone between the two looks.
        merged_into: UUID | None = row[0]
        thread_id = thread_id if merged_into is None else merged_into
    raise NotFound("The conversation is being moved about. Try again.")


def lock_thread_of(entry_id: UUID, *, seen_in: UUID) -> Thread:
    """The thread that an entry is in, locked until commit, wherever people have moved it to since it was `seen_in` one."""
    thread_id = seen_in
    for _ in range(_MAX_MERGES):
        with suppress(NotFound):  # the thread was taken away, and the entry is elsewhere by now
            thread = lock_thread(thread_id)
            if Entry.objects.filter(id=entry_id, thread_id=thread.id).exists():
                return thread
        row = Entry.objects.filter(id=entry_id).values_list("thread_id").first()
        if row is None:
            raise NotFound
        thread_id = row[0]
    raise NotFound("The conversation is being moved about. Try again.")


def turn_of(thread_id: UUID) -> Func:
    """Since when a person waits in a thread, from its entries (inbox/sql/threads_v1.sql); for an update."""
    return Func(Value(thread_id, UUIDField()), function="inbox_turn_v1", output_field=DateTimeField())

"""A conversation as one timeline: messages, notes and agent runs in the order of `seq`, the only order there is."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Prefetch, Q

from config.console import notices
from config.console.runs import Run, gather
from contacts.models import ContactProfile
from files.queries import is_open
from inbox.mime import clean_html
from inbox.mime.danger import is_dangerous
from inbox.models import Attachment, Entry, EntryDeliveryEvent, EntryRecipient, Thread, ThreadParticipant
from inbox.queries import conversations
from inbox.services import replying
from inbox.types import Direction, MailClass, OutboundKind
from tickets.models import Annotation
from tickets.queries import labels

SHOWN = 100
_NOBODYS = frozenset({MailClass.BOUNCE, MailClass.SELF})
_HELD = f'src="{clean_html.HELD}'


@dataclass(frozen=True)
class File:
    """An attachment, and whether it may be had."""

    row: Attachment

    @property
    def is_open(self) -> bool:
        return is_open(self.row.file.scan_state)

    @property
    def held(self) -> str:
        """Why nobody gets it, in a few words."""
        said = {"pending": "being scanned", "failed": "could not be scanned"}
        if self.row.file.scan_state == "infected":
            return f"kept away: {self.row.file.scan_reason or 'harmful'}"
        return said.get(self.row.file.scan_state, "")

    @property
    def is_dangerous(self) -> bool:
        row = self.row
        return is_dangerous(filename=row.filename, declared=row.content_type, sniffed=row.file.mime_sniffed)

    @property
    def is_disguised(self) -> bool:
        """A picture or document by its first bytes that calls itself another kind of it."""
        declared, sniffed = self.row.content_type.partition(";")[0].lower(), self.row.file.mime_sniffed
        kinds = {declared.partition("/")[0], sniffed.partition("/")[0]}
        return len(kinds) == 2 and kinds <= {"image", "text", "video", "audio"}


@dataclass
class Message:
    """One entry with all that is shown of it."""

    entry: Entry
    files: list["File"]
    runs: list[Run] = field(default_factory=list)
    warnings: list[notices.Notice] = field(default_factory=list)

    @property
    def side(self) -> str:
        """Who speaks: the customer, a person of ours, an agent, or us among ourselves."""
        if self.entry.direction == Direction.INBOUND:
            return "in"
        if self.entry.direction == Direction.INTERNAL:
            return "note"
        return "agent" if self.entry.outbound_kind == OutboundKind.AI_ANSWER else "human"

    @property
    def is_machine(self) -> bool:
        return self.entry.mail_class not in ("human", "")

    @property
    def text(self) -> str:
        """The new words only; the whole text where nothing but quotes would be left (CW-5)."""
        return self.entry.extracted_text.strip() or self.entry.body_text.strip()

    @property
    def trimmed(self) -> str:
        """What was folded away: quotes and signature."""
        whole, short = self.entry.body_text.strip(), self.entry.extracted_text.strip()
        if not short or whole == short:
            return ""
        return whole[len(short) :].strip() if whole.startswith(short) else whole

    @property
    def decision(self) -> dict[str, Any]:
        return notices.threading(self.entry.thread_decision) if self.side == "in" else {}

    @property
    def vouched(self) -> notices.Notice | None:
        """Who vouches for the sender of a mail."""
        return notices.vouched(self.entry.email) if self.side == "in" and self.entry.email else None

    @property
    def outbound(self) -> Any:
        return getattr(self.entry, "outbound", None)


@dataclass
class Conversation:
    """A thread, its messages and notes oldest first, and the person it is with."""

    thread: Thread
    messages: list[Message]
    notes: list[Annotation]
    has_earlier: bool
    profile: ContactProfile | None
    participants: list[tuple[str, list[str]]]
    others: list[Thread]
    # Itself, and what was merged into it.
    merged: list[UUID]

    @property
    def waiting(self) -> list[Run]:
        """Runs that ask a person something."""
        return [run for message in self.messages for run in message.runs if run.open_question]

    @property
    def items(self) -> list[Message | Annotation]:
        """Everything in the one order there is. Notes from before the first message shown are not shown either."""
        first = self.messages[0].entry.seq if self.has_earlier and self.messages else 0
        kept = [note for note in self.notes if note.seq > first]
        return sorted(
            [*self.messages, *kept], key=lambda item: item.entry.seq if isinstance(item, Message) else item.seq
        )

    @property
    def first_waiting(self) -> Run | None:
        return next(iter(self.waiting), None)

    @property
    def latest_inbound(self) -> Message | None:
        return next((m for m in reversed(self.messages) if m.side == "in"), None)

    @property
    def answerable(self) -> Message | None:
        """The mail that a reply answers: the latest of somebody else. A delivery report and our own mail are nobody's."""
        others = (m for m in reversed(self.messages) if m.side == "in" and m.entry.mail_class not in _NOBODYS)
        return next((m for m in others if m.entry.email is not None), None)

    @property
    def answers_to(self) -> str:
        """Where the reply goes, as the service that sends it decides; empty where there is nobody to answer."""
        mail = self.answerable
        return replying.named_by(mail.entry.email)[1] if mail is not None and mail.entry.email is not None else ""

    @property
    def last_seq(self) -> int:
        """The place of the latest message that this page shows."""
        return self.messages[-1].entry.seq if self.messages else 0


def read(thread_id: UUID, *, now: datetime, everything: bool = False) -> Conversation | None:
    """The conversation of the scope in sight, or None. As many queries for a thousand entries as for one."""
    thread = Thread.objects.select_related("inbox", "contact", "assignee__user").filter(id=thread_id).first()
    if thread is None:
        return None
    entries, has_earlier = _entries(thread, everything)
    merged = conversations.merged_into(thread.id)
    runs = gather(email_ids=[entry.email_id for entry in entries if entry.email_id], now=now)
    by_email: dict[UUID, list[Run]] = {}
    for run in runs:
        by_email.setdefault(run.row.email_id, []).append(run)
    messages = [
        Message(
            entry=entry,
            files=[File(row) for row in entry.attachments.all()],
            runs=by_email.get(entry.email_id, []) if entry.email_id else [],
            warnings=notices.of(entry.email) if entry.email else [],
        )
        for entry in entries
    ]
    return Conversation(
        thread=thread,
        messages=messages,
        notes=list(labels.notes(thread.id, merged=merged).order_by("seq")),
        merged=merged,
        has_earlier=has_earlier,
        profile=_profile(thread),
        participants=_participants(thread),
        others=_others(thread),
    )


def _entries(thread: Thread, everything: bool) -> tuple[list[Entry], bool]:
    rows = (
        conversations.shown(Entry.objects.filter(thread=thread))
        .select_related("email", "outbound")
        .defer("body_html", "outbound__raw")
        .annotate(
            has_html=ExpressionWrapper(~Q(body_html=""), output_field=BooleanField()),
            has_remote=ExpressionWrapper(Q(body_html__contains=_HELD), output_field=BooleanField()),
        )
        .prefetch_related(
            Prefetch("attachments", Attachment.objects.select_related("file").order_by("position")),
            Prefetch("delivery_events", EntryDeliveryEvent.objects.order_by("at", "created_at")),
            Prefetch("recipients", EntryRecipient.objects.order_by("address")),
        )
        .order_by("-seq")
    )
    found = list(rows if everything else rows[: SHOWN + 1])
    has_earlier = not everything and len(found) > SHOWN
    return list(reversed(found[:SHOWN] if has_earlier else found)), has_earlier


def _participants(thread: Thread) -> list[tuple[str, list[str]]]:
    """Each address once, with all that it was."""
    found: dict[str, list[str]] = {}
    rows = ThreadParticipant.objects.filter(thread=thread).order_by("id").values_list("address", "role")
    for address, role in rows[:60]:
        found.setdefault(address, []).append(role)
    return list(found.items())


def _profile(thread: Thread) -> ContactProfile | None:
    if thread.contact_id is None:
        return None
    rows = ContactProfile.objects.filter(contact_id=thread.contact_id, workspace_id=thread.workspace_id)
    return rows.select_related("contact").first()


def _others(thread: Thread) -> list[Thread]:
    """Other conversations with the same person in this workspace."""
    if thread.contact_id is None:
        return []
    rows = Thread.objects.filter(contact_id=thread.contact_id, workspace_id=thread.workspace_id, merged_into=None)
    return list(rows.exclude(id=thread.id).order_by("-last_entry_seq")[:5])

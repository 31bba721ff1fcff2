"""Who takes part in a conversation through which entries, and a thread's row as it is: what moving entries must know."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Q

from inbox.models import Entry, Inbox, InboxAddress, MessageReference, ThreadChange, ThreadParticipant
from inbox.normalise import lenient, without_tag
from inbox.queries import authors
from inbox.types import Direction, MailClass
from kernel import context
from kernel.context import Scope
from kernel.transactions import in_all_workspaces, unit_of_work

MAX_ADDRESSES = 200


@dataclass(frozen=True)
class Participant:
    """An address with its part in a conversation."""

    address: str
    role: str
    source: str
    contact_id: UUID | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.address, self.role

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


def participants(entries: Iterable[Entry]) -> dict[tuple[str, str], Participant]:
    """Whom these entries bring into a conversation: writers, those written to, and who got a copy.

    The same that filing and replying note down. Entries come with their `email` and `outbound`.
    """
    rows = list(entries)
    own = own_addresses(_named(rows))
    found: dict[tuple[str, str], Participant] = {}
    for entry in rows:
        for one in _of(entry, own):
            found.setdefault(one.key, one)
    return found


def with_mail(**narrowed: Any) -> list[Entry]:
    """Entries of the scope in their order, with what `participants` reads of them."""
    rows = Entry.objects.filter(**narrowed).select_related("email", "outbound").order_by("seq")
    return list(
        rows.only(
            "seq", "thread_id", "direction", "contact_id", "mail_class", "in_reply_to_id", "subject", "inbox_id",
            "email__to", "email__cc", "email__mail_class", "outbound__envelope_to",
            *(f"email__{name}" for name in authors.FIELDS),
        )
    )  # fmt: skip


def own_addresses(addresses: Collection[str]) -> frozenset[str]:
    """Those that are inboxes of this installation, of whatever workspace; `addresses` are canonical."""
    wanted = {*addresses, *(without_tag(address) for address in addresses)}
    with in_all_workspaces("which addresses are inboxes of ours, nobody else can tell"):
        known = set(Inbox.objects.filter(address_normalized__in=wanted).values_list("address_normalized", flat=True))
        further = InboxAddress.objects.filter(address_normalized__in=wanted)
        known |= set(further.values_list("address_normalized", flat=True))
    return frozenset(address for address in addresses if address in known or without_tag(address) in known)


def _named(rows: Sequence[Entry]) -> set[str]:
    return {lenient(address) for row in rows if row.email for address in _copied(row)}


def _copied(entry: Entry) -> list[str]:
    assert entry.email is not None
    return [str(item["address"]) for item in [*entry.email.to, *entry.email.cc][:MAX_ADDRESSES]]


def _of(entry: Entry, own: Collection[str]) -> list[Participant]:
    if entry.direction == Direction.OUTBOUND:
        outbound = getattr(entry, "outbound", None)
        return [Participant(address, "recipient", "outbound") for address in (outbound.envelope_to if outbound else ())]
    if entry.email is None:
        return []
    sender = lenient(authors.of(entry.email)[1])
    found = []
    if sender and entry.email.mail_class not in (MailClass.SELF, MailClass.BOUNCE):
        found.append(Participant(sender, "requester", "inbound", entry.contact_id))
    copied = {lenient(address) for address in _copied(entry)} - {sender, *own}
    return found + [Participant(address, "cc", "inbound") for address in sorted(copied) if address]


def rows_of(thread_id: UUID, keys: Collection[tuple[str, str]]) -> list[dict[str, Any]]:
    """The participants of a thread with these keys, as they can be put back."""
    rows = ThreadParticipant.objects.filter(thread_id=thread_id, address__in={address for address, _ in keys})
    fields = ("id", "contact_id", "address", "role", "source")
    return [dict(row) for row in rows.order_by("id").values(*fields) if (row["address"], row["role"]) in keys]


def snapshot(thread_ids: Sequence[UUID]) -> dict[str, dict[str, Any]]:
    """The rows of threads, every column but the time of the last change, by id."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id::text, to_jsonb(t) - 'updated_at' FROM inbox_thread t WHERE id = ANY(%s)", [list(thread_ids)]
        )
        return {key: orjson.loads(row) if isinstance(row, str) else row for key, row in cursor.fetchall()}


def followers(moved: Collection[UUID], newer: Sequence[Entry]) -> list[UUID]:
    """Of the entries that came later, those that answer one of `moved`, or answer such an answer."""
    went = set(moved)
    cited = _cited_by([entry.id for entry in newer if entry.in_reply_to_id is None and entry.email is not None], went)
    found = []
    for entry in newer:
        if entry.in_reply_to_id in went or (entry.in_reply_to_id is None and cited.get(entry.id, set()) & went):
            went.add(entry.id)
            found.append(entry.id)
    return found


def _cited_by(entry_ids: Sequence[UUID], candidates: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Which of the candidates carry or cite a message id that these entries cite."""
    if not entry_ids:
        return {}
    rows = MessageReference.objects.filter(Q(entry_id__in=entry_ids) | Q(entry_id__in=[*candidates, *entry_ids]))
    wanted: dict[bytes, set[UUID]] = {}
    holders: dict[bytes, set[UUID]] = {}
    for entry_id, digest, kind in rows.values_list("entry_id", "message_id_hash", "kind"):
        if entry_id in entry_ids and kind in ("in_reply_to", "reference", "subject"):
            wanted.setdefault(bytes(digest), set()).add(entry_id)
        holders.setdefault(bytes(digest), set()).add(entry_id)
    found: dict[UUID, set[UUID]] = {}
    for digest, asking in wanted.items():
        for entry_id in asking:
            found.setdefault(entry_id, set()).update(holders[digest] - {entry_id})
    return found


def later_change(change: ThreadChange) -> ThreadChange | None:
    """A change of one of the same conversations that was made afterwards and still stands, whoever may see it."""
    pair = [change.source_thread_id, change.target_thread_id]
    with unit_of_work(Scope(workspace_id=change.workspace_id)):
        rows = ThreadChange.objects.filter(undone_at=None, made_at__gt=change.made_at).exclude(id=change.id)
        return rows.filter(Q(source_thread_id__in=pair) | Q(target_thread_id__in=pair)).order_by("made_at").first()


def has_hidden(thread_ids: Collection[UUID]) -> bool:
    """Whether threads hold entries of other inboxes than those that the current scope is narrowed to."""
    scope = context.scope.get()
    if scope is None or scope.inbox_ids is None:
        return False
    with unit_of_work(Scope(workspace_id=scope.workspace_id)):
        rows = Entry.objects.filter(thread_id__in=thread_ids)
        return rows.exclude(inbox_id__in=scope.inbox_ids).exists()

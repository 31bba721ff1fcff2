"""Put conversations together and take them apart: merge, split, move. Each can be undone (undoing.py).

Entries really change their thread, so that lists, counters and the placing of later mail need not know of it; a merged
thread keeps the way to where it went. Both threads are locked, the lower id first, before anything is looked at: a mail
that is being filed, a reply that is being written and another change wait, or see what this one has done.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from audit.services import record
from inbox.events import EntriesMoved, ThreadCreated, ThreadMerged, ThreadRearranged, ThreadSplit
from inbox.models import Entry, Thread, ThreadChange, ThreadParticipant
from inbox.queries import arrangement, conversations
from inbox.types import ThreadChangeKind
from kernel import context, idempotency, outbox
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.idempotency import KeyReused
from kernel.transactions import in_workspace
from tenancy import settings
from tenancy.queries import workspaces

_LOOKS = 20
MAX_ENTRIES = 1_000


class SameConversation(Conflict):
    """Both are one conversation already."""

    code = "same_conversation"


class AlreadyMerged(Conflict):
    """The conversation was merged into another one, where its entries are now."""

    code = "thread_is_merged"


class NothingLeft(Invalid):
    """A conversation without entries is none."""

    code = "nothing_would_be_left"


def merge(*, workspace_id: UUID, thread_id: UUID, into: UUID, key: str) -> ThreadChange:
    """All entries of a thread into another one; later mail to it lands there. The same `key` is the same change."""
    with in_workspace(workspace_id):
        wish = _Wish(ThreadChangeKind.MERGE, key, {"thread": str(thread_id), "into": str(into)})
        return wish.before or _merge(thread_id, into, wish)


def split(
    *, workspace_id: UUID, thread_id: UUID, key: str, entry_ids: Sequence[UUID] = (), from_entry: UUID | None = None
) -> ThreadChange:
    """Chosen entries, or those from one on, into a new thread of the same inbox."""
    with in_workspace(workspace_id):
        asked = {"thread": str(thread_id), "entries": sorted(map(str, entry_ids)), "from": str(from_entry or "")}
        wish = _Wish(ThreadChangeKind.SPLIT, key, asked)
        if wish.before:
            return wish.before
        thread = _locked(thread_id)[thread_id]
        _check_live(thread)
        chosen = _chosen(thread, entry_ids, from_entry)
        before = arrangement.snapshot([thread.id])
        return _move(_Move(wish, thread, _new_thread(thread, chosen), chosen, before))


def move(*, workspace_id: UUID, thread_id: UUID, into: UUID, entry_ids: Sequence[UUID], key: str) -> ThreadChange:
    """Some entries into another thread."""
    with in_workspace(workspace_id):
        asked = {"thread": str(thread_id), "into": str(into), "entries": sorted(map(str, entry_ids))}
        wish = _Wish(ThreadChangeKind.MOVE, key, asked)
        if wish.before:
            return wish.before
        source, target = _pair(thread_id, into)
        chosen = _chosen(source, entry_ids, None)
        return _move(_Move(wish, source, target, chosen, arrangement.snapshot([source.id, target.id])))


@dataclass
class _Wish:
    """What is asked for, under which key."""

    kind: ThreadChangeKind
    key: str
    asked: dict[str, Any]
    before: ThreadChange | None = field(init=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.key) <= idempotency.KEY_LENGTH:
            raise Invalid("A change needs a key of 1 to 255 characters.", pointer="/key")
        with connection.cursor() as cursor:
            # Of two at once with the same key, the later one finds what the first has made.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"thread_change:{self.key}"])
        self.before = made_before(self.key, self.mark)

    @property
    def mark(self) -> bytes:
        return idempotency.fingerprint({"kind": self.kind.value} | self.asked)


@dataclass
class _Move:
    """Entries on their way from a thread to another, both locked."""

    wish: _Wish
    source: Thread
    target: Thread
    entries: Sequence[Entry]
    before: dict[str, dict[str, Any]]
    change_id: UUID = field(default_factory=uuid4)


def made_before(key: str, mark: bytes) -> ThreadChange | None:
    """The change that this key has made; KeyReused when it was another one."""
    found = ThreadChange.objects.filter(idempotency_key=key).first()
    if found is not None and bytes(found.fingerprint) != mark:
        raise KeyReused("This key was used for another change. Use a new key for each.")
    return found


def _merge(thread_id: UUID, into: UUID, wish: _Wish) -> ThreadChange:
    source, target = _pair(thread_id, into)
    entries = arrangement.with_mail(thread_id=source.id)
    going = _Move(wish, source, target, entries, arrangement.snapshot([source.id, target.id]))
    return _move(going)


def _pair(thread_id: UUID, into: UUID) -> tuple[Thread, Thread]:
    """Both threads, locked; whoever was merged itself stands for where it went."""
    if thread_id == into:
        raise SameConversation("A conversation cannot go into itself. Choose another one.", pointer="/into")
    for _ in range(_LOOKS):
        end = conversations.end_of(into)
        if end is None:
            raise NotFound("No conversation of this workspace has that id.", pointer="/into")
        if end.id == thread_id:
            raise SameConversation("That conversation was merged into this one: they are one already.", pointer="/into")
        found = _locked(thread_id, end.id)
        _check_live(found[thread_id])
        if found[end.id].merged_into_id is None:
            _check_audience(found[thread_id], found[end.id])
            return found[thread_id], found[end.id]
    raise Conflict("These conversations are being moved about. Try again.")


def _check_audience(source: Thread, target: Thread) -> None:
    """Where members see the inboxes of their teams only, a conversation stays in its inbox: moved, it would be gone for
    those who see the one, and shown in part to those who see the other."""
    if source.inbox_id == target.inbox_id:
        return
    if settings.shown(workspaces.current(source.workspace_id).settings)["members_see_team_inboxes_only"]:
        raise Conflict(
            "These conversations are in different inboxes, and members of this workspace see the inboxes of their teams"
            " only. Forward the mail instead.",
            pointer="/into",
        )


def _locked(*ids: UUID) -> dict[UUID, Thread]:
    """In one order everywhere, so that two changes in opposite directions cannot wait for each other."""
    rows = Thread.objects.select_for_update(no_key=True).filter(id__in=ids).order_by("id")
    found = {row.id: row for row in rows}
    if len(found) < len(set(ids)):
        raise NotFound
    check_sight(list(found))
    return found


def check_sight(ids: Sequence[UUID]) -> None:
    """Whoever sees some inboxes only cannot move what they cannot see, nor leave it behind."""
    if arrangement.has_hidden(ids):
        raise Forbidden(
            "This conversation has mail of an inbox that you do not see. Ask somebody who sees every inbox to do it."
        )


def _check_live(thread: Thread) -> None:
    if thread.merged_into_id is not None:
        raise AlreadyMerged(
            "This conversation was merged into another one. Work with that one, or undo the merge first.",
            merged_into=str(thread.merged_into_id),
        )


def _chosen(thread: Thread, entry_ids: Sequence[UUID], from_entry: UUID | None) -> list[Entry]:
    """The entries that are meant, some but not all of the thread's."""
    wanted: Collection[UUID] = set(entry_ids) | ({from_entry} if from_entry else set())
    if not wanted:
        raise Invalid("Say which entries: their ids, or the one from which on.", pointer="/entry_ids")
    found = arrangement.with_mail(thread_id=thread.id, id__in=wanted)
    if len(found) < len(wanted):
        raise NotFound("Not all of these entries are in this conversation.", pointer="/entry_ids")
    if from_entry:
        (first,) = [entry for entry in found if entry.id == from_entry]
        later = arrangement.with_mail(thread_id=thread.id, seq__gte=first.seq)
        found = sorted({entry.id: entry for entry in [*found, *later]}.values(), key=lambda entry: entry.seq)
    if len(found) > MAX_ENTRIES:
        raise Invalid(f"At most {MAX_ENTRIES} entries can go at once.", pointer="/entry_ids")
    if len(found) == Entry.objects.filter(thread_id=thread.id).count():
        raise NothingLeft(
            "These are all entries of the conversation. Leave one, or merge the conversation.", pointer="/entry_ids"
        )
    return found


def _new_thread(source: Thread, entries: Sequence[Entry]) -> Thread:
    thread_id = uuid4()
    thread = Thread.objects.create(
        id=thread_id,
        workspace_id=source.workspace_id,
        inbox_id=source.inbox_id,
        provider_thread_key=f"split:{thread_id}",
        subject=next((entry.subject for entry in entries if entry.subject), source.subject),
        assignee_id=source.assignee_id,
    )
    outbox.emit(ThreadCreated(workspace_id=thread.workspace_id, thread_id=thread.id, inbox_id=thread.inbox_id))
    return thread


def _move(going: _Move) -> ThreadChange:
    removed, added = _bring(going)
    put(going.entries, going.target.id, kind=going.wish.kind, change_id=going.change_id)
    if going.wish.kind == ThreadChangeKind.MERGE:
        Thread.objects.filter(id=going.source.id).update(merged_into=going.target)
    for thread_id in (going.source.id, going.target.id):
        recount(thread_id)
    return _keep(going, removed, added)


def _bring(going: _Move) -> tuple[list[dict[str, Any]], list[int]]:
    """Participants follow their entries. A merged thread keeps its own, for the day that it is taken out again."""
    source_id, target_id = going.source.id, going.target.id
    if going.wish.kind == ThreadChangeKind.MERGE:
        kept = ThreadParticipant.objects.filter(thread_id=source_id).order_by("id")
        rows = [dict(row) for row in kept.values("contact_id", "address", "role", "source")]
        return [], add(going.source.workspace_id, target_id, rows)
    leaving = arrangement.participants(going.entries)
    ids = {entry.id for entry in going.entries}
    staying = arrangement.participants(e for e in arrangement.with_mail(thread_id=source_id) if e.id not in ids)
    removed = arrangement.rows_of(source_id, set(leaving) - set(staying))
    ThreadParticipant.objects.filter(id__in=[row["id"] for row in removed]).delete()
    return removed, add(going.source.workspace_id, target_id, [one.as_row() for one in leaving.values()])


def add(workspace_id: UUID, thread_id: UUID, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Participants that are not there yet; the ids of the new ones."""
    before = set(ThreadParticipant.objects.filter(thread_id=thread_id).values_list("id", flat=True))
    made = [ThreadParticipant(workspace_id=workspace_id, thread_id=thread_id, **row) for row in rows]
    ThreadParticipant.objects.bulk_create(made, ignore_conflicts=True)
    after = ThreadParticipant.objects.filter(thread_id=thread_id).values_list("id", flat=True)
    return sorted(set(after) - before)


def put(entries: Sequence[Entry], thread_id: UUID, *, kind: ThreadChangeKind, change_id: UUID) -> None:
    """Entries into a locked thread, each with why it is there now and why it was where it was."""
    who = context.actor.get()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_entry SET thread_id = %s, thread_decision = jsonb_build_object('rule', %s::text,"
            " 'confidence', 'certain', 'evidence', jsonb_build_object('change', %s::text, 'by', %s::text),"
            " 'before', thread_decision, 'origin', coalesce(thread_decision->'origin', thread_decision))"
            " WHERE id = ANY(%s)",
            [thread_id, kind.value, str(change_id), who.label or who.kind, [entry.id for entry in entries]],
        )


def recount(thread_id: UUID) -> None:
    """Counters, preview, contact and open turn of a locked thread, from its entries."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT inbox_recount_thread_v1(%s)", [thread_id])


_EVENTS: dict[ThreadChangeKind, type[ThreadRearranged]] = {
    ThreadChangeKind.MERGE: ThreadMerged,
    ThreadChangeKind.SPLIT: ThreadSplit,
    ThreadChangeKind.MOVE: EntriesMoved,
}


def _keep(going: _Move, removed: list[dict[str, Any]], added: list[int]) -> ThreadChange:
    who = context.actor.get()
    source, target, kind = going.source, going.target, going.wish.kind
    journal = {
        "before": going.before,
        "after": arrangement.snapshot([source.id, target.id]),
        "removed": [row | {"contact_id": row["contact_id"] and str(row["contact_id"])} for row in removed],
        "added": added,
    }
    change = ThreadChange.objects.create(
        id=going.change_id,
        workspace_id=source.workspace_id,
        kind=kind,
        source_thread_id=source.id,
        target_thread_id=target.id,
        entry_ids=[entry.id for entry in going.entries],
        idempotency_key=going.wish.key,
        fingerprint=going.wish.mark,
        journal=journal,
        actor_kind=who.kind,
        actor_id=who.id,
        actor_label=who.label,
    )
    tell(change, _EVENTS[kind], f"thread.{kind.value}", inbox_id=source.inbox_id)
    return change


def tell(change: ThreadChange, event: type[ThreadRearranged], action: str, *, inbox_id: UUID) -> None:
    """The fact and the record of a change, with it."""
    outbox.emit(
        event(
            workspace_id=change.workspace_id,
            thread_id=change.source_thread_id,
            target_thread_id=change.target_thread_id,
            inbox_id=inbox_id,
            change_id=change.id,
            entries=len(change.entry_ids),
        )
    )
    record(
        workspace_id=change.workspace_id,
        action=action,
        resource_kind="thread",
        resource_id=change.source_thread_id,
        payload={
            "change_id": str(change.id),
            "target_thread_id": str(change.target_thread_id),
            "entries": len(change.entry_ids),
        },
    )

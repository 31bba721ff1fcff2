"""Undo a merge, a split or a move: the conversations are as they were, and what came since goes where it belongs.

What is undone is the last that was done to both threads. A mail that came since goes with what it answers, everything
else stays where it came in. Where nothing came, the rows are equal to those before the change.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import ProtectedError

from inbox.events import ThreadChangeUndone
from inbox.models import Entry, Thread, ThreadChange, ThreadParticipant
from inbox.queries import arrangement
from inbox.services import rearranging
from inbox.types import ThreadChangeKind
from kernel import clock, context
from kernel.errors import Conflict, NotFound
from kernel.transactions import in_workspace

# What is counted from entries; all else is what people, or the change, have set.
_COUNTED = frozenset(
    {"entry_count", "last_entry_seq", "last_entry_at", "preview", "contact_id", "first_unanswered_inbound_at"}
)


class CannotBeUndone(Conflict):
    """Something was done to one of the conversations afterwards."""

    code = "cannot_be_undone"


class AlreadyUndone(Conflict):
    code = "already_undone"


def undo(*, workspace_id: UUID, change_id: UUID) -> ThreadChange:
    """Put the entries of a change back. Raises NotFound, AlreadyUndone, CannotBeUndone."""
    with in_workspace(workspace_id):
        change = ThreadChange.objects.filter(id=change_id).first()
        if change is None:
            raise NotFound
        source, target = _locked(change)
        rearranging.check_sight([change.source_thread_id, change.target_thread_id])
        change = ThreadChange.objects.select_for_update(no_key=True).get(id=change_id)
        if change.undone_at is not None:
            raise AlreadyUndone("This change was undone before.")
        later = arrangement.later_change(change)
        if later is not None:
            raise CannotBeUndone(
                f"A {later.kind} was made in one of these conversations afterwards. Undo that one first.",
                change_id=str(later.id),
            )
        if source is None or target is None:
            raise CannotBeUndone("One of the conversations is not there any more, so nothing can be put back.")
        _put_back(change, target)
        _finish(change)
        rearranging.tell(change, ThreadChangeUndone, "thread.undo", inbox_id=source.inbox_id)
        return change


def _locked(change: ThreadChange) -> tuple[Thread | None, Thread | None]:
    """Both threads, locked in the order of every change."""
    ids = (change.source_thread_id, change.target_thread_id)
    rows = {row.id: row for row in Thread.objects.select_for_update(no_key=True).filter(id__in=ids).order_by("id")}
    return rows.get(change.source_thread_id), rows.get(change.target_thread_id)


def _put_back(change: ThreadChange, target: Thread) -> None:
    source_id, target_id = change.source_thread_id, change.target_thread_id
    since = _since(change)
    going = [entry.id for entry in since]
    if change.kind != ThreadChangeKind.SPLIT:
        going = arrangement.followers(change.entry_ids, since)
    staying = [entry for entry in since if entry.id not in set(going)]
    Thread.objects.filter(id=source_id).update(merged_into=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_entry SET thread_id = %s, thread_decision = thread_decision->'before'"
            " WHERE id = ANY(%s) AND thread_id = %s",
            [source_id, change.entry_ids, target_id],
        )
    Entry.objects.filter(id__in=going, thread_id=target_id).update(thread_id=source_id)
    _participants_back(change, staying, arrangement.with_mail(id__in=going))
    if change.kind == ThreadChangeKind.SPLIT:
        ThreadParticipant.objects.filter(thread_id=target_id).delete()
        _take_away(target)
    _rows_back(change)


def _take_away(thread: Thread) -> None:
    """The thread that a split has made, empty by now."""
    try:
        thread.delete()
    except ProtectedError as error:
        raise CannotBeUndone(
            "Something refers to the conversation that the split has made. Merge it back instead."
        ) from error


def _since(change: ThreadChange) -> list[Entry]:
    """What came into the target after the change."""
    return arrangement.with_mail(thread_id=change.target_thread_id, seq__gt=_last_seq(change))


def _last_seq(change: ThreadChange) -> int:
    """The highest `seq` in both threads when they were changed: taken under their locks, so what came later is higher."""
    return max(int(row["last_entry_seq"]) for row in change.journal["before"].values())


def _participants_back(change: ThreadChange, staying: Sequence[Entry], going: Sequence[Entry]) -> None:
    workspace_id, source_id = change.workspace_id, change.source_thread_id
    ThreadParticipant.objects.filter(id__in=change.journal["added"], thread_id=change.target_thread_id).delete()
    rearranging.add(workspace_id, source_id, change.journal["removed"])
    # Who came in with what goes now.
    remaining = arrangement.participants(arrangement.with_mail(thread_id=change.target_thread_id)) if going else {}
    left = arrangement.rows_of(change.target_thread_id, set(arrangement.participants(going)) - set(remaining))
    ThreadParticipant.objects.filter(id__in=[row["id"] for row in left]).delete()
    for thread_id, entries in ((change.target_thread_id, staying), (source_id, going)):
        rows = [one.as_row() for one in arrangement.participants(entries).values()]
        if rows:
            rearranging.add(workspace_id, thread_id, rows)


def _rows_back(change: ThreadChange) -> None:
    """Each thread's columns as they were, except for what was set, or came, since."""
    before, after = change.journal["before"], change.journal["after"]
    for key, now in arrangement.snapshot([UUID(key) for key in before]).items():
        was = {name: value for name, value in before[key].items() if now.get(name) == after[key].get(name)}
        _write(key, {name: value for name, value in was.items() if name not in _COUNTED})
        rearranging.recount(UUID(key))
        if not Entry.objects.filter(thread_id=key, seq__gt=_last_seq(change)).exists():
            # Nothing came: it is what it was, to the letter.
            _write(key, was)


def _write(key: str, values: dict[str, Any]) -> None:
    names = sorted(set(values) - {"id", "workspace_id", "created_at"})
    if not names:
        return
    columns = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE inbox_thread SET ({columns}) = (SELECT {columns}"  # noqa: S608 - names of columns
            " FROM jsonb_populate_record(NULL::inbox_thread, %s::jsonb)) WHERE id = %s",
            [orjson.dumps(values).decode(), key],
        )


def _finish(change: ThreadChange) -> None:
    who = context.actor.get()
    change.undone_at, change.undone_by = clock.now(), who.label or who.kind
    change.save(update_fields=["undone_at", "undone_by"])

"""What becomes of a conversation: whose it is, whether it is done, and when it comes back."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from audit.services import record
from inbox.events import (
    ThreadAssigned,
    ThreadChanged,
    ThreadClosed,
    ThreadMarkedSpam,
    ThreadReopened,
    ThreadSnoozed,
    ThreadWoken,
)
from inbox.models import Thread
from inbox.queries import conversations
from inbox.types import ThreadStatus
from kernel import clock, outbox
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.queries import members

_LONGEST_SLEEP = timedelta(days=366)
_STATES: dict[ThreadStatus, type[ThreadChanged]] = {
    ThreadStatus.OPEN: ThreadReopened,
    ThreadStatus.CLOSED: ThreadClosed,
    ThreadStatus.SPAM: ThreadMarkedSpam,
}


def assign(*, workspace_id: UUID, thread_id: UUID, membership_id: UUID | None) -> Thread:
    """Give a conversation to a member of the workspace who works there, or to nobody."""
    with in_workspace(workspace_id):
        thread = _locked(thread_id)
        if thread.assignee_id == membership_id:
            return thread
        if membership_id is not None and not members.is_active(membership_id):
            raise Invalid("No active member of this workspace has that id.", pointer="/assignee_id")
        if membership_id is not None and not members.sees(membership_id, thread.inbox_id):
            raise Invalid(
                "This member does not see the inbox of the conversation. Add them to a team that has it first.",
                pointer="/assignee_id",
            )
        thread.assignee_id = membership_id
        thread.save(update_fields=["assignee"])
        _tell(thread, ThreadAssigned, "thread.assign", assignee_id=membership_id)
    return thread


def take_from(*, workspace_id: UUID, membership_id: UUID) -> int:
    """Give what a member had to nobody, once they are shut out: new mail there would be in nobody's sight. How many."""
    with in_workspace(workspace_id):
        rows = Thread.objects.select_for_update(no_key=True).filter(assignee_id=membership_id).order_by("id")
        threads = list(rows.only("id", "workspace_id", "inbox_id", "status", "assignee_id"))
        Thread.objects.filter(id__in=[thread.id for thread in threads]).update(assignee=None)
        for thread in threads:
            thread.assignee_id = None
            _tell(thread, ThreadAssigned, "thread.assign", assignee_id=None)
    return len(threads)


def set_status(*, workspace_id: UUID, thread_id: UUID, status: ThreadStatus) -> Thread:
    """Close it, open it again, or call it spam. New mail of a person opens a closed one by itself."""
    if status == ThreadStatus.SNOOZED:
        raise Invalid("Give the time until which it rests: `snoozed_until`.", pointer="/snoozed_until")
    with in_workspace(workspace_id):
        thread = _locked(thread_id)
        if thread.status == status:
            return thread
        thread.status, thread.snoozed_until = status, None
        thread.save(update_fields=["status", "snoozed_until"])
        _tell(thread, _STATES[status], "thread.status", status=status.value)
    return thread


def snooze(*, workspace_id: UUID, thread_id: UUID, until: datetime) -> Thread:
    """Put it out of sight until a time; new mail of a person brings it back at once."""
    now = clock.now()
    if not now < until <= now + _LONGEST_SLEEP:
        raise Invalid("Give a time in the future, at most a year ahead.", pointer="/snoozed_until")
    with in_workspace(workspace_id):
        thread = _locked(thread_id)
        thread.status, thread.snoozed_until = ThreadStatus.SNOOZED, until
        thread.save(update_fields=["status", "snoozed_until"])
        _tell(thread, ThreadSnoozed, "thread.snooze", until=until)
    return thread


def wake_due(*, limit: int = 200) -> int:
    """Bring back conversations whose time has come; how many."""
    with in_all_workspaces("the alarm clock serves every workspace"):
        due = Thread.objects.filter(status=ThreadStatus.SNOOZED, snoozed_until__lte=clock.now())
        rows = list(due.order_by("snoozed_until").values_list("id", "workspace_id")[:limit])
    return sum(_wake(thread_id, workspace_id) for thread_id, workspace_id in rows)


def _wake(thread_id: UUID, workspace_id: UUID) -> int:
    with in_workspace(workspace_id):
        rows: Iterable[Thread] = Thread.objects.select_for_update(no_key=True).filter(
            id=thread_id, status=ThreadStatus.SNOOZED, snoozed_until__lte=clock.now()
        )
        for thread in rows:
            thread.status, thread.snoozed_until = ThreadStatus.OPEN, None
            thread.save(update_fields=["status", "snoozed_until"])
            _tell(thread, ThreadWoken, "thread.wake")
            return 1
    return 0


def _locked(thread_id: UUID) -> Thread:
    """Where the conversation is now, if it was merged into another."""
    if conversations.thread(thread_id) is None:
        raise NotFound
    return conversations.lock_thread(thread_id)


def _tell(thread: Thread, event: type[ThreadChanged], action: str, **payload: Any) -> None:
    outbox.emit(
        event(
            workspace_id=thread.workspace_id,
            thread_id=thread.id,
            inbox_id=thread.inbox_id,
            status=thread.status,
            assignee_id=thread.assignee_id,
        )
    )
    record(
        workspace_id=thread.workspace_id,
        action=action,
        resource_kind="thread",
        resource_id=thread.id,
        payload=payload,
    )

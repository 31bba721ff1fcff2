"""The emergency stop: nothing leaves the workspace until a person releases it.

It is one update of one narrow row that nothing else ever locks, so that it holds at once, whatever hangs elsewhere. What
was waiting goes on waiting and continues after the release; what had been claimed is refused at its effect.
"""

from typing import Any
from uuid import UUID

from django.db.models import F

from audit.services import record
from kernel import clock, context, outbox
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_workspace
from tenancy.events import WorkspaceResumed, WorkspaceStopped
from tenancy.models import WorkspaceControlState

LONGEST_REASON = 500


class NotStopped(Conflict):
    code = "workspace_not_stopped"


class Stopped(Conflict):
    """Something was asked for that would leave a stopped workspace."""

    code = "workspace_stopped"


def stop(*, workspace_id: UUID, reason: str) -> WorkspaceControlState:
    """Stop the workspace; stopping it again changes nothing. Invalid without a reason."""
    words = " ".join(reason.split())
    if not 0 < len(words) <= LONGEST_REASON:
        raise Invalid(f"Say why, in 1 to {LONGEST_REASON} characters.", pointer="/reason")
    with in_workspace(workspace_id):
        if _turn(workspace_id, stopped=True, reason=words):
            row = _read(workspace_id)
            outbox.emit(WorkspaceStopped(workspace_id=workspace_id, generation=row.generation, reason=words))
            _record(row, "workspace.stop", reason=words)
        return _read(workspace_id)


def release(*, workspace_id: UUID, reason: str = "") -> WorkspaceControlState:
    """Let things leave again, in a new generation. NotStopped when nothing was stopped."""
    words = " ".join(reason.split())[:LONGEST_REASON]
    with in_workspace(workspace_id):
        if not _turn(workspace_id, stopped=False, reason=words):
            raise NotStopped("The workspace is not stopped.")
        row = _read(workspace_id)
        outbox.emit(WorkspaceResumed(workspace_id=workspace_id, generation=row.generation))
        _record(row, "workspace.resume", reason=words)
        return row


def _turn(workspace_id: UUID, *, stopped: bool, reason: str) -> bool:
    """One statement: of two who do the same at once, one has done it."""
    who = context.actor.get()
    rows = WorkspaceControlState.objects.filter(workspace_id=workspace_id, stopped=not stopped)
    return bool(
        rows.update(
            stopped=stopped,
            generation=F("generation") + 1,
            reason=reason,
            actor_kind=who.kind,
            actor_id=who.id[:80],
            actor_label=who.label[:200],
            changed_at=clock.now(),
        )
    )


def _read(workspace_id: UUID) -> WorkspaceControlState:
    return WorkspaceControlState.objects.get(workspace_id=workspace_id)


def _record(row: WorkspaceControlState, action: str, **payload: Any) -> None:
    record(
        workspace_id=row.workspace_id,
        action=action,
        resource_kind="workspace",
        resource_id=row.workspace_id,
        payload={"generation": row.generation, **payload},
    )

"""Whether anything may leave a workspace: pieces for the statements by which other apps claim work, and the look just
before an effect.

A claim leaves out what is stopped and notes the generation; the effect is refused when the generation has moved on. So
work that was claimed before a stop, by a process that slept or hung meanwhile, does nothing when it wakes up.
"""

from typing import Final
from uuid import UUID

from django.db import connection

from kernel.transactions import in_workspace, joining
from tenancy.models import WorkspaceControlState

# Arrays, so that they are read once for a statement and not once for a row; nearly always they are empty.
STOPPED: Final = "ARRAY(SELECT stop.workspace_id FROM tenancy_workspacecontrolstate stop WHERE stop.stopped)"
STOPPED_FOR_WEBHOOKS: Final = """ARRAY(SELECT stop.workspace_id FROM tenancy_workspacecontrolstate stop
    JOIN tenancy_workspace spared ON spared.id = stop.workspace_id
    WHERE stop.stopped AND NOT coalesce((spared.settings ->> 'stop_spares_webhooks')::boolean, false))"""


def generation_of(table: str) -> str:
    """The present generation of the workspace of a row of `table`, as an expression."""
    return (
        "coalesce((SELECT control.generation FROM tenancy_workspacecontrolstate control"  # noqa: S608 - names of ours
        f" WHERE control.workspace_id = {table}.workspace_id), 0)"
    )


def generation(workspace_id: UUID) -> int | None:
    """The generation in which something may leave the workspace now; None while it is stopped."""
    with in_workspace(workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "SELECT generation FROM tenancy_workspacecontrolstate WHERE workspace_id = %s AND NOT stopped",
            [workspace_id],
        )
        row = cursor.fetchone()
    return int(row[0]) if row else None


def is_current(*, workspace_id: UUID, generation_claimed: int) -> bool:
    """Whether what was claimed in that generation may have its effect now."""
    return generation(workspace_id) == generation_claimed


def state(workspace_id: UUID) -> WorkspaceControlState:
    """The control state of a workspace, for those who look at it."""
    with joining(workspace_id):
        return WorkspaceControlState.objects.get(workspace_id=workspace_id)


def stopped_for_webhooks() -> list[UUID]:
    """Workspaces whose webhooks rest. Needs a scope over all of them."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {STOPPED_FOR_WEBHOOKS}")
        return list(cursor.fetchone()[0])

"""Record an attempt in the audit chain of its workspace, in the transaction of the attempt."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from audit.models import ApiRequest
from audit.types import Outcome
from kernel import clock, context
from kernel.context import Scope
from kernel.transactions import current_unit, in_all_workspaces, unit_of_work

# After the outbox: the chain's head is a hot row and is locked last.
FLUSH_RANK = 90
LABEL_LENGTH = 200


def record(
    *,
    workspace_id: UUID,
    action: str,
    resource_kind: str,
    resource_id: object,
    outcome: Outcome = Outcome.DONE,
    payload: dict[str, Any] | None = None,
) -> None:
    """Write who did what to the chain, just before the surrounding unit of work commits.

    `payload` holds readable details: scalars and ids, never secrets and never message bodies.
    """
    who = context.actor.get()
    execution = context.execution_id.get()
    entry = {
        "id": uuid.uuid4(),
        "workspace_id": workspace_id,
        "action": action,
        "outcome": outcome.value,
        "actor_kind": who.kind,
        "actor_id": who.id,
        "actor_label": who.label[:LABEL_LENGTH],
        "resource_kind": resource_kind,
        "resource_id": str(resource_id),
        "request_id": context.request_id.get(),
        "execution_id": execution,
        "payload": payload or {},
    }
    current_unit().add("audit", entry, rank=FLUSH_RANK, flush=_append)


def _append(entries: list[object]) -> None:
    by_workspace: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, dict):
            by_workspace[entry["workspace_id"]].append(entry)
    # In one order everywhere, so that two units that touch the same chains cannot wait for each other.
    for workspace_id in sorted(by_workspace):
        with unit_of_work(Scope(workspace_id)), connection.cursor() as cursor:
            cursor.execute(
                "SELECT audit_append_v1(%s, %s::jsonb)",
                [workspace_id, orjson.dumps(by_workspace[workspace_id], default=str).decode()],
            )


def anchor_all(*, directory: Path) -> int:
    """Remember the head of every chain, in the database and as a line in a file of today; the number of new anchors."""
    with in_all_workspaces("anchors are of the whole estate"), connection.cursor() as cursor:
        cursor.execute(
            "SELECT workspace_id, sequence, encode(head, 'hex') FROM audit_auditchain c WHERE sequence > 0 AND NOT EXISTS"
            " (SELECT 1 FROM audit_auditanchor a WHERE a.workspace_id = c.workspace_id AND a.sequence = c.sequence)"
        )
        heads = cursor.fetchall()
        for workspace_id, _, _ in heads:
            cursor.execute("SELECT audit_anchor_v1(%s)", [workspace_id])
        # Before the commit: a file that cannot be written must not leave anchors that no file will ever hold.
        if heads:
            _write_anchors(directory, heads)
    return len(heads)


def _write_anchors(directory: Path, heads: Sequence[tuple[UUID, int, str]]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    now = clock.now()
    with (directory / f"anchors-{now:%Y-%m-%d}.jsonl").open("ab") as file:
        for workspace_id, sequence, head in heads:
            line = {"workspace_id": workspace_id, "sequence": sequence, "hash": head, "at": now}
            file.write(orjson.dumps(line) + b"\n")


def keep_requests(rows: Sequence[ApiRequest]) -> None:
    """Write answered requests of the API down, of whichever workspaces they are, in one statement."""
    with in_all_workspaces("one writer keeps the request log of every workspace"):
        ApiRequest.objects.bulk_create(rows)


def prune_requests(*, older_than: timedelta, batch: int = 10_000) -> int:
    """Delete answered requests past their time; the number deleted."""
    limit, total = clock.now() - older_than, 0
    while True:
        # In parts, so that no transaction lasts long.
        with in_all_workspaces("pruning of the request log"), connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM audit_apirequest WHERE id IN"
                " (SELECT id FROM audit_apirequest WHERE created_at < %s LIMIT %s)",
                [limit, batch],
            )
            deleted = int(cursor.rowcount)
        total += deleted
        if deleted < batch:
            return total

"""Record an attempt in the audit chain of its workspace, in the transaction of the attempt."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import connection

from audit import queries, storage
from audit.models import ApiRequest
from audit.types import Outcome
from kernel import clock, context
from kernel.context import ESTATE, Actor, Attempt, Scope, acting_as
from kernel.errors import Conflict, DomainError, Invalid, NotFound
from kernel.transactions import Call, current_unit, in_all_workspaces, in_workspace

# After the outbox: the chain's head is a hot row and is locked last.
FLUSH_RANK = 90
LABEL_LENGTH = 200
REASON_LENGTH = 500
_MACHINERY = frozenset({"system", "agent"})


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
    entry = _entry(payload or {}) | {
        "workspace_id": workspace_id,
        "action": action,
        "outcome": outcome.value,
        "resource_kind": resource_kind,
        "resource_id": str(resource_id),
    }
    # What a person or a program has changed: its state is hashed as it will be committed. The machinery's own steps
    # are many, and their rows keep every state themselves.
    if outcome is Outcome.DONE and entry["actor_kind"] not in _MACHINERY and queries.is_followed(resource_kind):
        entry["after_hash"] = None
    current_unit().add("audit", entry, rank=FLUSH_RANK, flush=_append)


def record_refusal(attempt: Attempt, *, outcome: Outcome, code: str, status: int) -> None:
    """Write an attempt that was denied, or failed, to the chain of its workspace, in a unit of work of its own."""
    with acting_as(attempt.actor), in_workspace(attempt.workspace_id):
        record(
            workspace_id=attempt.workspace_id,
            action=attempt.action[:80],
            resource_kind=attempt.resource_kind[:60],
            resource_id=ascii(attempt.resource_id)[1:-1][:80],
            outcome=outcome,
            payload={"code": code, "status": status},
        )


@contextmanager
def command(name: str, *, workspace_id: UUID | None = None) -> Iterator[None]:
    """What a command of the operator does: the actor of all of it, and a record where it fails."""
    who = Actor(kind="operator", id=name, label="command line")
    with acting_as(who):
        try:
            yield
        except (DomainError, CommandError, ImproperlyConfigured) as error:
            attempt = Attempt(workspace_id or ESTATE, who, f"command.{name}", "command", name)
            record_refusal(attempt, outcome=Outcome.FAILED, code=type(error).__name__, status=1)
            raise


def redact(*, workspace_id: UUID, event_id: UUID, reason: str) -> None:
    """Empty the readable details of an event, for good. The chain still verifies, and has the record of this."""
    if not reason.strip() or len(reason) > REASON_LENGTH:
        raise Invalid(f"Say why, in 1 to {REASON_LENGTH} characters.", pointer="/reason")
    entry = orjson.dumps(_entry({"reason": reason}), default=str).decode()
    with in_workspace(workspace_id), connection.cursor() as cursor:
        if queries.event(workspace_id, event_id) is None:
            raise NotFound
        cursor.execute("SELECT audit_redact_v1(%s, %s, %s::jsonb)", [workspace_id, event_id, entry])
        if not cursor.fetchone()[0]:
            raise Conflict("The details of this event were redacted already.")


def _entry(payload: dict[str, Any]) -> dict[str, Any]:
    who = context.actor.get()
    return {
        "id": uuid.uuid4(),
        "actor_kind": who.kind,
        "actor_id": who.id,
        "actor_label": who.label[:LABEL_LENGTH],
        "request_id": context.request_id.get(),
        "execution_id": context.execution_id.get(),
        "payload": payload,
    }


def _append(entries: list[object]) -> Iterator[Call]:
    by_workspace: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, dict):
            by_workspace[entry["workspace_id"]].append(entry)
    # In one order everywhere, so that two units that touch the same chains cannot wait for each other.
    for workspace_id in sorted(by_workspace):
        sql, parameters = queries.with_states(by_workspace[workspace_id])
        yield Call(f"audit_append_v1(%s, {sql})", [workspace_id, *parameters], Scope(workspace_id))


def anchor_all(*, directory: Path, bucket: str = "") -> int:
    """Remember the head of every chain, outside of the database and then in it; the number of new anchors.

    Outside first: a place that cannot be written to must not leave anchors in the table that it will never hold.
    """
    with in_all_workspaces("anchors are of the whole estate"), connection.cursor() as cursor:
        cursor.execute(
            "SELECT workspace_id, sequence, encode(head, 'hex') FROM audit_auditchain c WHERE sequence > 0 AND NOT EXISTS"
            " (SELECT 1 FROM audit_auditanchor a WHERE a.workspace_id = c.workspace_id AND a.sequence = c.sequence)"
        )
        heads = cursor.fetchall()
    if not heads:
        return 0
    now = clock.now()
    lines = [
        orjson.dumps({"workspace_id": workspace_id, "sequence": sequence, "hash": head, "at": now}) + b"\n"
        for workspace_id, sequence, head in heads
    ]
    storage.write(b"".join(lines), directory=directory, bucket=bucket)
    with in_all_workspaces("anchors are of the whole estate"), connection.cursor() as cursor:
        cursor.executemany("SELECT audit_anchor_v1(%s, %s)", [(owner, sequence) for owner, sequence, _ in heads])
    return len(heads)


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

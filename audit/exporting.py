"""The trail as a file: a stream of lines that ends where the chain ended when it was asked for."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Max, QuerySet

from audit import queries, services
from audit.models import AuditEvent, AuditPayload
from audit.types import Format
from kernel.transactions import in_workspace

_BATCH = 1000
_COLUMNS = (
    "sequence", "id", "occurred_at", "action", "outcome", "actor_kind", "actor_id", "actor_label", "resource_kind",
    "resource_id", "request_id", "execution_id", "details", "redacted_at", "before_hash", "after_hash", "details_hash",
    "previous_hash", "hash", "body",
)  # fmt: skip
# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export(
    *, workspace_id: UUID, rows: "QuerySet[AuditEvent]", form: Format, narrowed: Sequence[str]
) -> Iterator[bytes]:
    """The chosen events, oldest first. That they were taken out is recorded now; the stream follows when it is read."""
    last = queries.events(workspace_id).aggregate(found=Max("sequence"))["found"] or 0
    services.record(
        workspace_id=workspace_id,
        action="audit.export",
        resource_kind="audit_trail",
        resource_id=workspace_id,
        payload={"format": str(form), "until": last, "narrowed_by": list(narrowed)},
    )
    return _stream(workspace_id, rows.filter(sequence__lte=last).order_by("sequence"), form)


def _stream(workspace_id: UUID, rows: "QuerySet[AuditEvent]", form: Format) -> Iterator[bytes]:
    if form is Format.CSV:
        yield _csv([list(_COLUMNS)])
    after = 0
    while True:
        # A unit of work for each part: whoever reads slowly must not keep a transaction open.
        with in_workspace(workspace_id):
            found = list(rows.filter(sequence__gt=after)[:_BATCH])
            known = queries.payloads(found)
        if not found:
            return
        after = found[-1].sequence
        lines = [_line(row, known.get(row.id)) for row in found]
        if form is Format.CSV:
            yield _csv([[_cell(line[name]) for name in _COLUMNS] for line in lines])
        else:
            yield b"".join(orjson.dumps(line) + b"\n" for line in lines)


def _line(row: AuditEvent, payload: AuditPayload | None) -> dict[str, Any]:
    plain = ("sequence", "id", "action", "outcome", "actor_kind", "actor_id", "actor_label", "resource_kind", "body")
    found = {name: getattr(row, name) for name in (*plain, "resource_id", "request_id", "execution_id", "occurred_at")}
    hashes = {name: getattr(row, name) for name in ("before_hash", "after_hash", "previous_hash", "hash")}
    return {
        **found,
        **{name: bytes(value).hex() if value else None for name, value in hashes.items()},
        "details_hash": bytes(row.payload_hash).hex(),
        "details": payload.payload if payload else {},
        "redacted_at": payload.redacted_at if payload else None,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value).decode().strip('"')
    return f"'{text}" if text.startswith(_FORMULA) else text


def _csv(lines: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()

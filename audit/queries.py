"""Reading and verifying the chain."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import QuerySet

from audit.models import ApiRequest, AuditAnchor, AuditChain, AuditEvent
from kernel.transactions import in_all_workspaces

# The columns that repeat the hashed body, in its order after sequence and workspace.
_COLUMNS = (
    "id", "action", "outcome", "actor_kind", "actor_id", "actor_label", "resource_kind", "resource_id", "request_id",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether a chain holds; if not, the first sequence that does not, and what is wrong there."""

    workspace_id: UUID
    checked: int
    first_bad: int | None = None
    fault: str = ""

    @property
    def holds(self) -> bool:
        return self.first_bad is None


# By workspace and sequence, the hashes that were remembered outside the database.
Anchors = Mapping[UUID, Mapping[int, bytes]]


def chain_owners(*, outside: Anchors | None = None) -> list[UUID]:
    """Every workspace that has a chain, an anchor or events: a chain that was deleted whole is found by the others."""
    with in_all_workspaces("verification is of the whole estate"):
        owners = set(AuditChain.objects.values_list("workspace_id", flat=True))
        owners |= set(AuditAnchor.objects.values_list("workspace_id", flat=True))
        owners |= set(AuditEvent.objects.order_by().values_list("workspace_id", flat=True).distinct())
    return sorted(owners | set(outside or {}))


def outside_anchors(directory: Path) -> dict[UUID, dict[int, bytes]]:
    """The anchors in the files of `audit.services.anchor_all`, which the owner of the database cannot reach."""
    found: dict[UUID, dict[int, bytes]] = defaultdict(dict)
    for path in sorted(directory.glob("anchors-*.jsonl")):
        for line in path.read_bytes().splitlines():
            anchor = orjson.loads(line)
            found[UUID(anchor["workspace_id"])].setdefault(anchor["sequence"], bytes.fromhex(anchor["hash"]))
    return dict(found)


def verify(workspace_id: UUID, *, outside: Anchors | None = None) -> Verdict:
    """Recompute a chain from its first link to its head, and compare it with its anchors and its payloads."""
    with in_all_workspaces("verification must not depend on the fence"):
        anchors = [dict(AuditAnchor.objects.filter(workspace_id=workspace_id).values_list("sequence", "hash"))]
        anchors.append(dict((outside or {}).get(workspace_id, {})))
        altered = set(_altered_payloads(workspace_id))
        head = hashlib.sha256(str(workspace_id).encode()).digest()
        expected = 0
        for event in _links(workspace_id):
            expected += 1
            fault = _fault(event, expected, head)
            head = bytes(event.hash)
            if not fault and any(bytes(known.get(expected, head)) != head for known in anchors):
                fault = "differs from the anchor that was taken here"
            if not fault and event.id in altered:
                fault = "its payload is gone, or was changed after it was hashed"
            if fault:
                return Verdict(workspace_id, expected - 1, expected, fault)
        anchored = max((sequence for known in anchors for sequence in known), default=0)
        return _compare_head(workspace_id, expected, head, anchored)


def _links(workspace_id: UUID) -> Iterator[AuditEvent]:
    return AuditEvent.objects.filter(workspace_id=workspace_id).order_by("sequence").iterator(chunk_size=2000)


def _fault(event: AuditEvent, expected: int, head: bytes) -> str:
    if event.sequence != expected:
        return f"missing: the next one present is {event.sequence}"
    if bytes(event.previous_hash) != head or hashlib.sha256(head + event.body.encode()).digest() != bytes(event.hash):
        return "the hash does not follow from the one before"
    if orjson.loads(event.body) != _columns(event):
        return "a column was changed after it was hashed"
    return ""


def _columns(event: AuditEvent) -> list[object]:
    """The columns in the order and the form of the hashed body."""
    return [
        event.sequence,
        str(event.workspace_id),
        *(str(getattr(event, name)) for name in _COLUMNS),
        str(event.execution_id) if event.execution_id else None,
        bytes(event.payload_hash).hex(),
        event.occurred_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    ]


def _compare_head(workspace_id: UUID, last: int, head: bytes, anchored: int) -> Verdict:
    chain = AuditChain.objects.filter(workspace_id=workspace_id).first()
    if anchored > last:
        return Verdict(workspace_id, last, last + 1, f"cut: an anchor was taken at {anchored}")
    if last == 0 and chain is None:
        return Verdict(workspace_id, 0)
    if chain is None or chain.sequence != last or bytes(chain.head) != head:
        at = chain.sequence if chain else 0
        return Verdict(workspace_id, last, min(at, last) + 1, f"the head says {at}, the events end at {last}")
    return Verdict(workspace_id, last)


def _altered_payloads(workspace_id: UUID) -> list[UUID]:
    """Events whose readable payload is missing, or neither what was hashed nor emptied by redaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.id FROM audit_auditevent e LEFT JOIN audit_auditpayload p ON p.event_id = e.id"
            " WHERE e.workspace_id = %s AND CASE WHEN p.event_id IS NULL THEN true"
            " WHEN p.redacted_at IS NOT NULL THEN p.payload <> '{}'::jsonb"
            " ELSE e.payload_hash <> sha256(convert_to(p.payload::text, 'UTF8')) END",
            [workspace_id],
        )
        return [row[0] for row in cursor.fetchall()]


def requests(workspace_id: UUID) -> "QuerySet[ApiRequest]":
    """What a workspace has asked of the API."""
    return ApiRequest.objects.filter(workspace_id=workspace_id)

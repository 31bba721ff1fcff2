"""Reading and verifying the chain."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import orjson
from django.db import connection

from audit.models import AuditAnchor, AuditChain, AuditEvent
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


def chain_owners() -> list[UUID]:
    """Every workspace that has a chain, an anchor or events: a chain that was deleted whole is found by the others."""
    with in_all_workspaces("verification is of the whole estate"):
        owners = set(AuditChain.objects.values_list("workspace_id", flat=True))
        owners |= set(AuditAnchor.objects.values_list("workspace_id", flat=True))
        owners |= set(AuditEvent.objects.order_by().values_list("workspace_id", flat=True).distinct())
    return sorted(owners)


def verify(workspace_id: UUID) -> Verdict:
    """Recompute a chain from its first link to its head, and compare it with its anchors."""
    with in_all_workspaces("verification must not depend on the fence"):
        anchors = dict(AuditAnchor.objects.filter(workspace_id=workspace_id).values_list("sequence", "hash"))
        head = hashlib.sha256(str(workspace_id).encode()).digest()
        expected = 0
        for event in _links(workspace_id):
            expected += 1
            fault = _fault(event, expected, head)
            head = bytes(event.hash)
            if not fault and expected in anchors and bytes(anchors[expected]) != head:
                fault = "differs from the anchor that was taken here"
            if fault:
                return Verdict(workspace_id, expected - 1, expected, fault)
        return _compare_head(workspace_id, expected, head, max(anchors, default=0))


def _links(workspace_id: UUID) -> Iterator[AuditEvent]:
    return AuditEvent.objects.filter(workspace_id=workspace_id).order_by("sequence").iterator(chunk_size=2000)


def _fault(event: AuditEvent, expected: int, head: bytes) -> str:
    if event.sequence != expected:
        return f"missing: the next one present is {event.sequence}"
    if bytes(event.previous_hash) != head or hashlib.sha256(head + event.body.encode()).digest() != bytes(event.hash):
        return "the hash does not follow from the one before"
    body = orjson.loads(event.body)
    columns = [event.sequence, str(event.workspace_id), *(str(getattr(event, name)) for name in _COLUMNS)]
    if body[: len(columns)] != columns or body[-2] != bytes(event.payload_hash).hex():
        return "a column was changed after it was hashed"
    return ""


def _compare_head(workspace_id: UUID, last: int, head: bytes, anchored: int) -> Verdict:
    chain = AuditChain.objects.filter(workspace_id=workspace_id).first()
    if anchored > last:
        return Verdict(workspace_id, last, last + 1, f"cut: an anchor was taken at {anchored}")
    if chain is None or chain.sequence != last or bytes(chain.head) != head:
        at = chain.sequence if chain else 0
        return Verdict(workspace_id, last, min(at, last) + 1, f"the head says {at}, the events end at {last}")
    return Verdict(workspace_id, last)


def payload_matches(event_ids: list[UUID]) -> list[UUID]:
    """Of these events, those whose readable payload was changed (not redacted) after it was hashed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.id FROM audit_auditevent e JOIN audit_auditpayload p ON p.event_id = e.id"
            " WHERE e.id = ANY(%s) AND p.redacted_at IS NULL"
            " AND e.payload_hash <> sha256(convert_to(p.payload::text, 'UTF8'))",
            [event_ids],
        )
        return [row[0] for row in cursor.fetchall()]

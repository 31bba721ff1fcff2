"""Reading and verifying the chain."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.apps import apps
from django.db import connection
from django.db.models import BinaryField, Model, QuerySet, UUIDField

from audit import storage
from audit.models import ApiRequest, AuditAnchor, AuditChain, AuditEvent, AuditPayload
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


def outside_anchors(directory: Path, *, bucket: str = "") -> dict[UUID, dict[int, bytes]]:
    """The anchors that `audit.services.anchor_all` has left where the owner of the database cannot reach.

    Of two for one link the first counts: an anchor of a chain that was written anew comes later.
    """
    found: dict[UUID, dict[int, bytes]] = defaultdict(dict)
    for line in storage.read(directory=directory, bucket=bucket):
        anchor = orjson.loads(line)
        found[UUID(anchor["workspace_id"])].setdefault(anchor["sequence"], bytes.fromhex(anchor["hash"]))
    return dict(found)


def verify(workspace_id: UUID, *, outside: Anchors | None = None) -> Verdict:
    """Recompute a chain from its first link to its head, and compare it with its anchors and its payloads."""
    with in_all_workspaces("verification must not depend on the fence"):
        # Events are added while this reads: the head of before lies among the links, that of afterwards not before their end.
        before = _head(workspace_id)
        anchors = [dict(AuditAnchor.objects.filter(workspace_id=workspace_id).values_list("sequence", "hash"))]
        anchors.append(dict((outside or {}).get(workspace_id, {})))
        altered = set(_altered_payloads(workspace_id))
        head = hashlib.sha256(str(workspace_id).encode()).digest()
        expected, is_headed = 0, before is None or before.sequence == 0
        for event in _links(workspace_id):
            expected += 1
            fault = _fault(event, expected, head)
            head = bytes(event.hash)
            if before is not None and expected == before.sequence:
                is_headed = head == bytes(before.head)
            if not fault and any(bytes(known.get(expected, head)) != head for known in anchors):
                fault = "differs from the anchor that was taken here"
            if not fault and event.id in altered:
                fault = "its payload is gone, or was changed after it was hashed"
            if fault:
                return Verdict(workspace_id, expected - 1, expected, fault)
        anchored = max((sequence for known in anchors for sequence in known), default=0)
        if anchored > expected:
            return Verdict(workspace_id, expected, expected + 1, f"cut: an anchor was taken at {anchored}")
        if before is not None and not is_headed:
            return _cut(workspace_id, expected, before.sequence)
        return _compare_head(workspace_id, expected, head)


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
        bytes(event.before_hash).hex() if event.before_hash else None,
        bytes(event.after_hash).hex() if event.after_hash else None,
    ]


def _compare_head(workspace_id: UUID, last: int, head: bytes) -> Verdict:
    chain = _head(workspace_id)
    if last == 0 and chain is None:
        return Verdict(workspace_id, 0)
    at = chain.sequence if chain else 0
    # Further on it stands for what came after the last link that was read.
    if chain is None or at < last or (at == last and bytes(chain.head) != head):
        return _cut(workspace_id, last, at)
    return Verdict(workspace_id, last)


def _head(workspace_id: UUID) -> AuditChain | None:
    return AuditChain.objects.filter(workspace_id=workspace_id).first()


def _cut(workspace_id: UUID, last: int, at: int) -> Verdict:
    return Verdict(workspace_id, last, min(at, last) + 1, f"the head says {at}, the events end at {last}")


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


def events(workspace_id: UUID) -> "QuerySet[AuditEvent]":
    """The links of a workspace's chain."""
    return AuditEvent.objects.filter(workspace_id=workspace_id)


def event(workspace_id: UUID, event_id: UUID) -> AuditEvent | None:
    """One of them."""
    return events(workspace_id).filter(id=event_id).first()


def payloads(found: Sequence[AuditEvent]) -> dict[UUID, AuditPayload]:
    """The readable details of some events, by their ids."""
    rows = AuditPayload.objects.filter(event_id__in=[one.id for one in found])
    return {row.event_id: row for row in rows}


def anchors(workspace_id: UUID) -> "QuerySet[AuditAnchor]":
    """What is remembered of a workspace's chain."""
    return AuditAnchor.objects.filter(workspace_id=workspace_id)


# --- the state of what was changed --------------------------------------------------------------------------------

# Kinds whose name is not their model's.
_ALIASES = {
    "approval": "agents.ApprovalRequest",
    "domain": "tenancy.VerifiedDomain",
    "suppression": "contacts.SuppressionEntry",
}


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@cache
def _followed() -> dict[str, type[Model]]:
    """By kind of resource, the model whose rows the trail hashes: those of a workspace that have an id of their own."""
    found: dict[str, type[Model]] = {}
    for model in apps.get_models():
        names = {field.column for field in model._meta.concrete_fields}
        if isinstance(model._meta.pk, UUIDField) and (names & {"workspace_id", "external_id"}):
            found[re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()] = model
    return found | {kind: apps.get_model(label) for kind, label in _ALIASES.items()}


def kinds() -> list[str]:
    """The kinds of resources that the trail follows."""
    return sorted(_followed())


def is_followed(kind: str) -> bool:
    """Whether the trail hashes the state of such resources."""
    return kind in _followed()


def with_states(entries: list[dict[str, Any]]) -> tuple[str, list[Any]]:
    """SQL that gives these entries as jsonb, and its parameters: those that have a place for the hash of their resource's
    present state have the hash in it, null where there is no such row."""
    wanted = defaultdict[str, set[str]](set)
    for entry in entries:
        if "after_hash" in entry and _UUID.fullmatch(entry["resource_id"]):
            wanted[entry["resource_kind"]].add(entry["resource_id"])
    content = orjson.dumps(entries, default=str).decode()
    if not wanted:
        return "%s::jsonb", [content]
    states = " UNION ALL ".join(_states(_followed()[kind]) for kind in wanted)
    asked = [parameter for kind, ids in wanted.items() for parameter in (kind, list(ids))]
    sql = (
        f"(WITH states AS MATERIALIZED ({states}) SELECT jsonb_agg(CASE WHEN e ? 'after_hash' THEN"  # noqa: S608 - as below
        " e || jsonb_build_object('after_hash', (SELECT s.hash FROM states s WHERE s.kind = e->>'resource_kind'"
        " AND s.id = e->>'resource_id')) ELSE e END ORDER BY n) FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS t(e, n))"
    )
    return sql, [*asked, content]


def _states(model: type[Model]) -> str:
    """SHA-256 of each row, without its bytes: envelopes change by themselves, and raw mail is hashed where it lies."""
    meta = model._meta
    names = [field.column for field in meta.concrete_fields if not isinstance(field, BinaryField)]
    assert meta.pk is not None
    columns = ", ".join(f'"{name}"' for name in names)
    return (
        f"SELECT %s AS kind, {meta.pk.column}::text AS id,"  # noqa: S608 - names of models
        f" encode(sha256(convert_to(jsonb_build_array({columns})::text, 'UTF8')), 'hex') AS hash"
        f" FROM {meta.db_table} WHERE {meta.pk.column} = ANY(%s::uuid[])"
    )

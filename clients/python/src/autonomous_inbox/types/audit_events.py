"""What `audit_events` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Outcome = Literal["done", "denied", "failed"]


class AuditActor(TypedDict):
    kind: str
    id: str
    label: str


class AuditEvent(TypedDict):
    """Who tried what, on what, with which outcome: a link of the workspace's chain."""

    object: str
    id: str
    created_at: str
    sequence: int
    action: str
    outcome: Outcome
    actor: AuditActor
    resource_kind: str
    resource_id: str
    request_id: str
    execution_id: str | None
    details: Mapping[str, Any]
    redacted_at: str | None
    before_hash: str | None
    after_hash: str | None
    details_hash: str
    previous_hash: str
    hash: str
    body: str


class AuditVerification(TypedDict):
    """What came of recomputing the chain from its first link."""

    object: str
    holds: bool
    checked: int
    first_bad: int | None
    fault: str
    verified_at: str

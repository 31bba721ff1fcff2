"""What several resources take and give. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

ApprovalState = Literal["pending", "approved", "rejected", "expired", "withdrawn", "consumed"]

Color = Literal["grey", "blue", "green", "amber", "red", "violet"]

CredentialState = Literal["active", "expired", "revoked"]

DeliveryStatus = Literal["pending", "delivered", "failed", "cancelled"]

Risk = Literal["low", "medium", "high"]

ThreadChangeKind = Literal["merge", "split", "move"]


class Answer(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    text: str


class Approval(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    intent_id: str
    agent_run_id: str
    email_id: str
    action: str
    risk: Risk
    reason: str
    content: Mapping[str, Any]
    content_hash: str
    requested_by: str
    state: ApprovalState
    expires_at: str
    decided_at: str | None
    decided_by_kind: str
    decided_by_id: str
    decided_by_label: str
    comment: str
    edited: bool
    consumed_at: str | None


class Attachment(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    entry_id: str
    email_id: str | None
    position: int
    filename: str
    content_type: str
    sniffed_type: str
    dangerous: bool
    size: int
    sha256: str
    scan_state: str
    scan_reason: str
    inline: bool
    content_id: str


class ChangedBy(TypedDict):
    kind: str
    id: str
    label: str


class Delivery(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    webhook_id: str
    system_event_id: str
    slug: str
    replay_no: int
    status: DeliveryStatus
    attempts: int
    next_attempt_at: str | None
    last_status_code: int | None
    last_error: str
    delivered_at: str | None


class Issuer(TypedDict):
    """Who issued a credential, as it was then."""

    kind: str
    id: str
    label: str


class Note(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    thread_id: str
    entry_id: str | None
    text: str
    mentions: Sequence[str]
    author_kind: str
    author_label: str


class Problem(TypedDict):
    """What went wrong and what to do (RFC 9457). Further members depend on the code."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: Sequence[Mapping[str, Any]]


class RoleName(TypedDict):
    """A role that somebody holds."""

    id: str
    name: str


class Stop(TypedDict):
    object: str
    stopped: bool
    generation: int
    reason: str
    changed_by: ChangedBy
    changed_at: str | None


class Tag(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    color: Color


class ThreadChange(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    kind: ThreadChangeKind
    source_thread_id: str
    target_thread_id: str
    entry_ids: Sequence[str]
    actor_kind: str
    actor_label: str
    made_at: str
    undone_at: str | None
    undone_by: str


class Workspace(TypedDict):
    """What each of the nine resources of the domain model shows beside its own fields."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    external_id: str
    ref: str
    name: str
    timezone: str
    status: str

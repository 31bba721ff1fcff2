"""What the API takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

AgentStatus = Literal["active", "paused"]

ApprovalState = Literal["pending", "approved", "rejected", "expired", "withdrawn", "consumed"]

Autonomy = Literal["draft", "supervised", "autonomous"]

CredentialState = Literal["active", "expired", "revoked"]

Decision = Literal["allow", "ask", "deny"]

DeliveryStatus = Literal["pending", "delivered", "failed", "cancelled"]

EmailState = Literal[
    "received",
    "stored",
    "parsed",
    "threaded",
    "queued",
    "running",
    "waiting_approval",
    "handled",
    "ignored",
    "quarantined",
    "failed",
]

ExecutionStatus = Literal[
    "queued", "running", "waiting_approval", "waiting_effect", "succeeded", "needs_human", "failed", "stopped"
]

InboxKind = Literal["email"]

IntentStatus = Literal[
    "waiting_approval", "approved", "executing", "executed", "uncertain", "failed", "rejected", "expired", "blocked"
]

MailClass = Literal["human", "auto_reply", "bounce", "list", "spam", "virus", "self"]

ReplyStatus = Literal["expired", "failed", "refused", "rejected", "sending", "sent", "uncertain", "waiting_approval"]

Risk = Literal["low", "medium", "high"]

StepEnum = Literal["hour", "day"]

StepKind = Literal["context", "knowledge", "model", "plan", "action", "note"]

StepStatus = Literal["running", "done", "waiting", "failed"]

ThreadStatus = Literal["open", "snoozed", "closed", "spam"]

WebhookState = Literal["active", "disabled"]


class Address(TypedDict):
    name: str
    address: str


class AddressInput(TypedDict):
    name: NotRequired[str]
    address: str


class Agent(TypedDict):
    """An agent with its current version flattened into it."""

    object: str
    id: str
    created_at: str
    updated_at: str
    external_id: str
    name: str
    status: AgentStatus
    autonomy: Autonomy
    version: int
    max_steps: int
    max_cost_micros: int
    provider: str
    model: str
    system_prompt: str
    skills: Sequence[str]
    permissions: Sequence[str]
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    deleted_at: str | None


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
    object: str
    id: str
    created_at: str
    updated_at: str
    entry_id: str
    email_id: str | None
    filename: str
    content_type: str
    size: int
    sha256: str
    scan_state: str
    inline: bool
    deleted_at: str | None


class Attempt(TypedDict):
    object: str
    number: int
    at: str
    duration_ms: int
    status_code: int | None
    error: str


class Certificate(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    state: CredentialState
    scopes: Sequence[str]
    fingerprint: str
    serial: str
    issuer: str
    subject: str
    not_before: str
    not_after: str
    revoked_at: str | None
    last_used_at: str | None
    issued_by: Issuer


class Cutoff(TypedDict):
    object: str
    issued_before: str


class Delivery(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
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


class DeliveryCounts(TypedDict):
    """Deliveries by status."""

    pending: int
    delivered: int
    failed: int
    cancelled: int


class DeliveryDetail(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
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
    attempt_log: Sequence[Attempt]


class Denial(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    fingerprint: str
    serial: str
    issuer: str
    reason: str


class Email(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    inbox_id: str
    message_id: str
    state: EmailState
    state_reason: str
    mail_class: MailClass
    subject: str
    from_name: str
    from_address: str
    to: Sequence[Address]
    cc: Sequence[Address]
    date: str | None
    rfc_message_id: str
    in_reply_to: Sequence[str]
    warnings: Sequence[str]
    received_at: str
    thread_id: str | None
    text: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    deleted_at: str | None


class Enabled(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
    label: str
    url: str
    slugs: Sequence[str]
    header_names: Sequence[str]
    ordered: bool
    rate_per_second: int | None
    state: WebhookState
    disabled_reason: str
    disabled_at: str | None
    failing_since: str | None
    previous_secret_until: str | None
    replayed: int


class Entry(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    thread_id: str
    email_id: str | None
    direction: str
    outbound_kind: str
    author_kind: str
    author_label: str
    subject: str
    text: str
    extracted_text: str
    html: str
    occurred_at: str
    delivery_state: str
    response_time_seconds: int | None
    thread_decision: Mapping[str, Any]
    attachments: Sequence[Attachment]


class Event(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
    slug: str
    version: int
    occurred_at: str
    data: Mapping[str, Any]


class EventType(TypedDict):
    object: str
    slug: str
    version: int
    description: str
    schema: Mapping[str, Any]


class Inbox(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    external_id: str
    kind: InboxKind
    address: str
    name: str
    agent_id: str | None
    policy: Mapping[str, Any]
    policy_version: int
    active: bool
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    deleted_at: str | None


class Intent(TypedDict):
    id: str
    action: str
    arguments: Mapping[str, Any]
    risk: Risk
    decision: Decision
    decision_reason: str
    status: IntentStatus
    entry_id: str | None
    error: str
    executed_at: str | None


class Issuer(TypedDict):
    """Who issued a credential, as it was then."""

    kind: str
    id: str
    label: str


class Knowledge(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    title: str
    uri: str
    content_hash: str
    deleted_at: str | None


class KnowledgeDetail(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    title: str
    uri: str
    content_hash: str
    deleted_at: str | None
    content: str


class MachineKey(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    prefix: str
    state: CredentialState
    scopes: Sequence[str]
    allowed_networks: Sequence[str]
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    previous_secret_until: str | None
    issued_by: Issuer


class MachineKeyWithSecret(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    name: str
    prefix: str
    state: CredentialState
    scopes: Sequence[str]
    allowed_networks: Sequence[str]
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    previous_secret_until: str | None
    issued_by: Issuer
    secret: str


class Passage(TypedDict):
    object: str
    id: str
    source_id: str
    title: str
    uri: str
    heading: str
    text: str
    similarity: float


class Percentiles(TypedDict):
    """Of times in milliseconds."""

    p50: int
    p95: int


class Problem(TypedDict):
    """What went wrong and what to do (RFC 9457). Further members depend on the code."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: Sequence[Mapping[str, Any]]


class Replay(TypedDict):
    object: str
    webhook_id: str
    deliveries: int


class Reply(TypedDict):
    """A reply on its way through the rules. `status` says how far it is, `reason` why."""

    object: str
    id: str
    created_at: str
    updated_at: str
    email_id: str
    agent_run_id: str
    approval_id: str | None
    entry_id: str | None
    status: ReplyStatus
    risk: Risk
    reason: str
    text: str


class Request(TypedDict):
    """A request and its answer in short; bodies, queries and secrets are not kept."""

    object: str
    id: str
    created_at: str
    request_id: str
    method: str
    path: str
    status: int
    code: str
    caller: str
    duration_ms: int


class RevokedKeys(TypedDict):
    object: str
    revoked: Sequence[str]


class RevokedToken(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    jti: str
    expires_at: str


class Run(TypedDict):
    """An agent's run against a mail. `used_language_model` is false when the offline provider answered."""

    object: str
    id: str
    created_at: str
    updated_at: str
    email_id: str
    agent_id: str
    execution_id: str
    version: int
    status: ExecutionStatus
    outcome: str
    reason: str
    error_code: str
    provider: str
    model: str
    used_language_model: bool
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str | None
    finished_at: str | None


class RunDetail(TypedDict):
    """An agent's run against a mail. `used_language_model` is false when the offline provider answered."""

    object: str
    id: str
    created_at: str
    updated_at: str
    email_id: str
    agent_id: str
    execution_id: str
    version: int
    status: ExecutionStatus
    outcome: str
    reason: str
    error_code: str
    provider: str
    model: str
    used_language_model: bool
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str | None
    finished_at: str | None
    steps: Sequence[Step]
    intent: Intent | None
    approval: Approval | None


class Statistics(TypedDict):
    """How an endpoint does."""

    object: str
    webhook_id: str
    since: str
    until: str
    deliveries: DeliveryCounts
    success_rate: float | None
    attempts: int
    delay_ms: Percentiles | None
    duration_ms: Percentiles | None
    waiting: Waiting
    step: StepEnum
    series: Sequence[StatisticsStep]


class StatisticsStep(TypedDict):
    """The deliveries that were made in one hour or day."""

    at: str
    delivered: int
    failed: int
    pending: int


class Step(TypedDict):
    position: int
    kind: StepKind
    title: str
    tool: str
    permission: str
    risk: str
    status: StepStatus
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    started_at: str
    finished_at: str | None


class Thread(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    inbox_id: str
    subject: str
    status: ThreadStatus
    first_unanswered_inbound_at: str | None
    last_entry_at: str
    entry_count: int
    preview: str


class Waiting(TypedDict):
    """What is still to be delivered, of whatever time."""

    count: int
    oldest_created_at: str | None


class Webhook(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
    label: str
    url: str
    slugs: Sequence[str]
    header_names: Sequence[str]
    ordered: bool
    rate_per_second: int | None
    state: WebhookState
    disabled_reason: str
    disabled_at: str | None
    failing_since: str | None
    previous_secret_until: str | None


class WebhookWithSecret(TypedDict):
    id: str
    workspace_id: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None
    object: str
    label: str
    url: str
    slugs: Sequence[str]
    header_names: Sequence[str]
    ordered: bool
    rate_per_second: int | None
    state: WebhookState
    disabled_reason: str
    disabled_at: str | None
    failing_since: str | None
    previous_secret_until: str | None
    secret: str


class Workspace(TypedDict):
    object: str
    id: str
    external_id: str
    ref: str
    name: str
    timezone: str
    status: str
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    created_at: str
    updated_at: str
    deleted_at: str | None

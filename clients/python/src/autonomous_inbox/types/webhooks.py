"""What `webhooks` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Resolution = Literal["hour", "day"]

WebhookState = Literal["active", "disabled"]


class DeliveryCounts(TypedDict):
    """Deliveries by status."""

    pending: int
    delivered: int
    failed: int
    cancelled: int


class Enabled(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
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


class Percentiles(TypedDict):
    """Of times in milliseconds."""

    p50: int
    p95: int


class Replay(TypedDict):
    object: str
    webhook_id: str
    deliveries: int


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
    resolution: Resolution
    series: Sequence[StatisticsStep]


class StatisticsStep(TypedDict):
    """The deliveries that were made in one hour or day."""

    at: str
    delivered: int
    failed: int
    pending: int


class Waiting(TypedDict):
    """What is still to be delivered, of whatever time."""

    count: int
    oldest_created_at: str | None


class Webhook(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
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
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
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

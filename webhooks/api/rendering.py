"""Rows as bodies: by hand, since these are the long lists and the framework's serializers take thirty times as long.

The shapes beside it describe the same bodies; tests/api/ holds each answer against its shape.
"""

from typing import Any

from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery
from webhooks.types import DeliveryStatus


def webhook(row: Webhook) -> dict[str, Any]:
    """A webhook, without its secrets and without the values of its headers."""
    return {
        "object": "webhook",
        "id": row.id,
        "workspace_id": row.workspace_id,
        "label": row.label,
        "url": row.url,
        "slugs": row.slugs,
        "header_names": sorted(row.headers),
        "ordered": row.ordered,
        "rate_per_second": row.rate_per_second,
        "state": row.state,
        "disabled_reason": row.disabled_reason,
        "disabled_at": row.disabled_at,
        "failing_since": row.failing_since,
        "previous_secret_until": row.previous_secret_until,
        "metadata": row.metadata,
        "custom_metadata": row.custom_metadata,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "deleted_at": row.deleted_at,
    }


def delivery(row: WebhookDelivery) -> dict[str, Any]:
    """A delivery; its annotation `slug` comes with the query."""
    return {
        "object": "webhook_delivery",
        "id": row.id,
        "workspace_id": row.workspace_id,
        "webhook_id": row.webhook_id,
        "system_event_id": row.system_event_id,
        "slug": row.slug,  # type: ignore[attr-defined]
        "replay_no": row.replay_no,
        "status": row.status,
        "attempts": row.attempts,
        "next_attempt_at": row.due_at if row.status == DeliveryStatus.PENDING else None,
        "last_status_code": row.last_status_code,
        "last_error": row.last_error,
        "delivered_at": row.delivered_at,
        "metadata": {},
        "custom_metadata": {},
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "deleted_at": None,
    }


def delivery_detail(row: WebhookDelivery) -> dict[str, Any]:
    """A delivery with its attempts."""
    return delivery(row) | {"attempt_log": [_attempt(attempt) for attempt in row.attempt_rows.all()]}


def _attempt(row: WebhookAttempt) -> dict[str, Any]:
    return {
        "object": "webhook_attempt",
        "number": row.number,
        "at": row.at,
        "duration_ms": row.duration_ms,
        "status_code": row.status_code,
        "error": row.error,
    }


def system_event(row: SystemEvent) -> dict[str, Any]:
    """An event. It never changes: the last three fields are there for the common shape (X-21)."""
    return {
        "object": "system_event",
        "id": row.id,
        "workspace_id": row.workspace_id,
        "slug": row.slug,
        "version": row.version,
        "occurred_at": row.occurred_at,
        "data": row.data,
        "metadata": {},
        "custom_metadata": {},
        "created_at": row.created_at,
        "updated_at": row.created_at,
        "deleted_at": None,
    }

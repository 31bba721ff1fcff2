"""Examples for the API's description, each held against its shape by a test."""

from typing import Any

_COMMON: dict[str, Any] = {
    "workspace_id": "2b1a0f9e-8d7c-4b6a-9f5e-4d3c2b1a0f14",
    "metadata": {},
    "custom_metadata": {},
    "created_at": "2026-11-05T09:00:00.120000Z",
    "updated_at": "2026-11-05T09:00:04.310000Z",
    "deleted_at": None,
}

WEBHOOK: dict[str, Any] = {
    "object": "webhook",
    "id": "1a0f9e8d-7c6b-4a59-8f4e-3d2c1b0a9f15",
    **_COMMON,
    "label": "CRM",
    "url": "https://example.com/hook",
    "slugs": ["email.*"],
    "header_names": ["X-Key"],
    "ordered": False,
    "rate_per_second": None,
    "state": "active",
    "disabled_reason": "",
    "disabled_at": None,
    "failing_since": None,
    "previous_secret_until": None,
}
WEBHOOK_WITH_SECRET: dict[str, Any] = WEBHOOK | {"secret": "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGp1c3QgYW4gZXhhbXBsZQ=="}
ENABLED: dict[str, Any] = WEBHOOK | {"replayed": 12}
REPLAY: dict[str, Any] = {"object": "webhook_replay", "webhook_id": WEBHOOK["id"], "deliveries": 12}
EVENT: dict[str, Any] = {
    "object": "system_event",
    "id": "0f9e8d7c-6b5a-4948-9e3d-2c1b0a9f8e16",
    **_COMMON,
    "slug": "email.received",
    "version": 1,
    "occurred_at": "2026-11-05T09:00:00Z",
    "data": {"email_id": "9f1c2d3e-4b5a-4c6d-8e7f-0a1b2c3d4e04"},
}
DELIVERY: dict[str, Any] = {
    "object": "webhook_delivery",
    "id": "9e8d7c6b-5a49-4838-8d2c-1b0a9f8e7d17",
    **_COMMON,
    "webhook_id": WEBHOOK["id"],
    "system_event_id": EVENT["id"],
    "slug": "email.received",
    "replay_no": 0,
    "status": "delivered",
    "attempts": 1,
    "next_attempt_at": None,
    "last_status_code": 200,
    "last_error": "",
    "delivered_at": "2026-11-05T09:00:04Z",
}
DELIVERY_DETAIL: dict[str, Any] = DELIVERY | {
    "attempt_log": [
        {
            "object": "webhook_attempt",
            "number": 1,
            "at": "2026-11-05T09:00:04Z",
            "duration_ms": 83,
            "status_code": 200,
            "error": "",
        }
    ]
}
EVENT_TYPE: dict[str, Any] = {
    "object": "event_type",
    "slug": "email.received",
    "version": 1,
    "description": "A mail came in and has its place.",
    "schema": {"type": "object"},
}
STATISTICS: dict[str, Any] = {
    "object": "webhook_statistics",
    "webhook_id": WEBHOOK["id"],
    "since": "2026-11-04T09:00:00Z",
    "until": "2026-11-05T09:00:00Z",
    "deliveries": {"pending": 1, "delivered": 98, "failed": 2, "cancelled": 0},
    "success_rate": 0.98,
    "attempts": 107,
    "delay_ms": {"p50": 240, "p95": 2100},
    "duration_ms": {"p50": 83, "p95": 410},
    "waiting": {"count": 1, "oldest_created_at": "2026-11-05T08:59:58Z"},
    "resolution": "hour",
    "series": [{"at": "2026-11-05T08:00:00Z", "delivered": 98, "failed": 2, "pending": 1}],
}

"""Examples for the API's description, each held against its shape by a test."""

from typing import Any, Final

_HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

EVENT: Final[dict[str, Any]] = {
    "object": "audit_event",
    "id": "0e1d2c3b-4a59-4687-8f9e-a0b1c2d3e4f5",
    "created_at": "2026-11-05T09:00:00.120000Z",
    "sequence": 42,
    "action": "webhook.create",
    "outcome": "done",
    "actor": {"kind": "machine_key", "id": "4c3b2a19-0f8e-4d7c-9b6a-5f4e3d2c1b21", "label": "Shop"},
    "resource_kind": "webhook",
    "resource_id": "6f1d2c3b-4a59-4687-8f9e-a0b1c2d3e4f7",
    "request_id": "4f0c2a3b9d6e4f1a8b7c6d5e4f3a2b1c",
    "execution_id": None,
    "details": {"host": "example.com", "slugs": ["email.*"]},
    "redacted_at": None,
    "before_hash": None,
    "after_hash": _HASH,
    "details_hash": _HASH,
    "previous_hash": _HASH,
    "hash": _HASH,
    "body": '[42, "2b1a0f9e-8d7c-4b6a-9f5e-4d3c2b1a0f14", "0e1d2c3b-4a59-4687-8f9e-a0b1c2d3e4f5", "webhook.create"]',
}
VERIFICATION: Final[dict[str, Any]] = {
    "object": "audit_verification",
    "holds": True,
    "checked": 42,
    "first_bad": None,
    "fault": "",
    "verified_at": "2026-11-05T09:00:00.120000Z",
}
ANCHOR: Final[dict[str, Any]] = {
    "object": "audit_anchor",
    "created_at": "2026-11-05T09:00:00.120000Z",
    "sequence": 42,
    "hash": _HASH,
}

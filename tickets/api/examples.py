"""Examples for the API's description, each held against its shape by a test."""

from typing import Any

_TIMES = {"created_at": "2026-11-05T09:00:00.120000Z", "updated_at": "2026-11-05T09:00:04.310000Z"}
_THREAD = "8a7b6c5d-4e3f-4a2b-9c1d-0e9f8a7b6c11"

TAG: dict[str, Any] = {
    "object": "tag",
    "id": "3d2c1b0a-9f8e-4d7c-b6a5-9f8e7d6c5b01",
    **_TIMES,
    "name": "Refund",
    "color": "amber",
}
THREAD_TAGS: dict[str, Any] = {"object": "thread_tags", "thread_id": _THREAD, "tags": [TAG]}
NOTE: dict[str, Any] = {
    "object": "note",
    "id": "6c5b4a39-2817-4605-b4a3-928170605f02",
    **_TIMES,
    "thread_id": _THREAD,
    "entry_id": None,
    "text": "Paid twice, see the ledger.",
    "mentions": [],
    "author_kind": "user",
    "author_label": "Mika Lindgren",
}
VIEW: dict[str, Any] = {
    "object": "view",
    "id": "7d6c5b4a-3928-4170-8f5e-4d3c2b1a0f03",
    **_TIMES,
    "name": "Refunds that wait",
    "filter": {"status": "open", "unanswered": True, "tag_id": TAG["id"]},
    "sort": "waiting",
    "threads": 12,
}
ANSWER: dict[str, Any] = {
    "object": "canned_answer",
    "id": "8e7d6c5b-4a39-4281-9706-5f4e3d2c1b04",
    **_TIMES,
    "name": "Shipping times",
    "text": "Hello {name},\n\nwe ship within two days.\n\n{me}",
}
LISTED: dict[str, Any] = {
    "object": "thread",
    "id": _THREAD,
    **_TIMES,
    "inbox_id": "4c3b2a19-0f8e-4d7c-a6b5-c4d3e2f1a009",
    "subject": "How long does shipping take?",
    "status": "open",
    "snoozed_until": None,
    "assignee_id": None,
    "first_unanswered_inbound_at": "2026-11-05T09:00:00Z",
    "last_entry_at": "2026-11-05T09:00:00Z",
    "entry_count": 1,
    "preview": "I am in Nairobi. How long does shipping take?",
}

"""What `threads` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from autonomous_inbox.types.shared import Attachment, Tag

Blank = Literal[""]

Confidence = Literal["certain", "high", "low"]

RecipientState = Literal[
    "queued", "sending", "uncertain", "sent", "failed", "delayed", "soft_bounced", "delivered", "bounced", "complained"
]

Rule = Literal[
    "new",
    "signed_reply",
    "reply_address",
    "in_reply_to",
    "references",
    "cited_by_later",
    "subject",
    "journal",
    "delivery_report",
    "reply",
    "merge",
    "split",
    "move",
]

ThreadStatus = Literal["open", "snoozed", "closed", "spam"]

ThreadUpdateStatus = Literal["open", "closed", "spam"]


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
    recipients: Sequence[Recipient]
    response_time_seconds: int | None
    thread_decision: Placement
    attachments: Sequence[Attachment]


class Placement(TypedDict):
    """The rule that put an entry into its thread, what it went by, and how sure that is."""

    rule: Rule | Blank
    confidence: Confidence | Blank
    evidence: Mapping[str, Any]


class Recipient(TypedDict):
    """How far an outgoing entry came at one recipient, as the provider reports it."""

    id: str
    address: str
    state: RecipientState
    status_code: str
    diagnostic: str
    at: str


class Thread(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    inbox_id: str
    merged_into_id: str | None
    subject: str
    status: ThreadStatus
    snoozed_until: str | None
    assignee_id: str | None
    first_unanswered_inbound_at: str | None
    last_entry_at: str
    entry_count: int
    preview: str


class ThreadTags(TypedDict):
    """All labels of a conversation."""

    object: str
    thread_id: str
    tags: Sequence[Tag]

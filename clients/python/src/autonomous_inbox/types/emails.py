"""What `emails` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

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

MailClass = Literal["human", "auto_reply", "bounce", "list", "spam", "virus", "self"]


class Address(TypedDict):
    name: str
    address: str


class CorrespondentInput(TypedDict):
    """A body of which every member is known: what cannot be set is refused with 422, never dropped in silence."""

    name: NotRequired[str]
    address: str


class Email(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    inbox_id: str
    message_id: str
    state: EmailState
    state_reason: str
    mail_class: MailClass
    may_auto_answer: bool
    subject: str
    from_name: str
    from_address: str
    reply_to: Sequence[Address]
    to: Sequence[Address]
    cc: Sequence[Address]
    date: str | None
    rfc_message_id: str
    in_reply_to: Sequence[str]
    references: Sequence[str]
    warnings: Sequence[str]
    received_at: str
    thread_id: str | None
    text: str | None


class ReparseChange(TypedDict):
    """One field that the present reader reads otherwise; long texts are cut."""

    field: str
    before: str
    after: str


class Reparsed(TypedDict):
    object: str
    email_id: str
    applied: bool
    changes: Sequence[ReparseChange]

"""What `inboxes` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

InboxKind = Literal["email"]


class Inbox(TypedDict):
    """A resource of a workspace, which it names."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    external_id: str
    kind: InboxKind
    address: str
    name: str
    agent_id: str | None
    policy: Mapping[str, Any]
    policy_version: int
    active: bool


class InboxConnection(TypedDict):
    """What an inbox sends through."""

    object: str
    inbox_id: str
    connection_id: str | None

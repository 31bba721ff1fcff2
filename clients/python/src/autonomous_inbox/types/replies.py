"""What `replies` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from autonomous_inbox.types.shared import Risk

ReplyStatus = Literal["expired", "failed", "refused", "rejected", "sending", "sent", "uncertain", "waiting_approval"]


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

"""What `invitations` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from autonomous_inbox.types.shared import RoleName

InvitationState = Literal["open", "accepted", "expired", "revoked"]

MailState = Literal["none", "queued", "sending", "sent", "failed"]


class Invitation(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    email: str
    state: InvitationState
    roles: Sequence[RoleName]
    invited_by: Inviter
    mail_state: MailState
    expires_at: str
    accepted_at: str | None
    revoked_at: str | None


class InvitationWithLink(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    email: str
    state: InvitationState
    roles: Sequence[RoleName]
    invited_by: Inviter
    mail_state: MailState
    expires_at: str
    accepted_at: str | None
    revoked_at: str | None
    link: str


class Inviter(TypedDict):
    """Who invited somebody, as it was then."""

    kind: str
    id: str
    label: str

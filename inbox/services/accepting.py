"""Take a message from outside: bytes first, everything else later.

Whoever hands a message in (SES, SMTP, the API, the command line) gets an answer only after the commit. Afterwards the
message can be read late, or fail to be read, but it cannot be lost.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, transaction

from inbox.normalise import looked_for
from kernel import context, nudge
from kernel.crash import crash_point
from kernel.errors import DomainError


class TooLarge(DomainError):
    code = "message_too_large"
    status = 413
    title = "The message is too large"


@dataclass(frozen=True)
class Accepted:
    """What a handed-in message became: one row for each inbox that it is for (or none, in quarantine).

    When the message is new, so are its e-mails; all of it has the time `at`.
    """

    workspace_id: UUID
    inbound_message_id: UUID
    email_id: UUID | None
    inbox_id: UUID | None
    is_new: bool
    at: datetime


def accept(
    *,
    source: str,
    provider_message_id: str,
    raw: bytes,
    recipients: Sequence[str],
    envelope_from: str = "",
    verdicts: dict[str, Any] | None = None,
    only_workspace: UUID | None = None,
    location: str = "",
) -> list[Accepted]:
    """Store a message for the inboxes of its envelope recipients. Handing the same one in again changes nothing.

    `provider_message_id` names the message at its source and is unique there. `only_workspace` keeps a caller of the
    API inside its own workspace. `location` is where the bytes are when `raw` is empty: the ingest brings them. Raises TooLarge; an empty list means that no recipient concerns that workspace.
    """
    if len(raw) > settings.MAIL_MAX_BYTES:
        limit = settings.MAIL_MAX_BYTES
        raise TooLarge(f"The message has {len(raw)} bytes; at most {limit} are taken.", limit=limit)
    looked = [looked_for(recipient) for recipient in recipients]
    who = context.actor.get()
    cause = {"actor": {"kind": who.kind, "id": who.id, "label": who.label}, "request_id": context.request_id.get()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT workspace_id, inbound_message_id, email_id, inbox_id, is_new, at FROM inbox_accept_v1("
            "%s, %s, %s, %s, %s, %s::text[], %s::text[], %s::text[], %s::text[], %s::jsonb, %s::jsonb, %s, %s)",
            [
                source,
                provider_message_id[:200],
                raw,
                hashlib.sha256(raw).digest(),
                envelope_from[:320],
                list(recipients),
                [exact for exact, _, _ in looked],
                [untagged for _, untagged, _ in looked],
                [domain for _, _, domain in looked],
                orjson.dumps(verdicts or {}).decode(),
                orjson.dumps(cause).decode(),
                only_workspace,
                location,
            ],
        )
        accepted = [Accepted(*row) for row in cursor.fetchall()]
    transaction.on_commit(_wake, robust=True)
    crash_point("accept.committed")
    return accepted


def _wake() -> None:
    """Straight to the ingest worker; the stored fact in the outbox leads there too, should this be lost."""
    nudge.wake("inbox.tasks.process_messages")


def content_id(raw: bytes) -> str:
    """The provider id of a message whose source gives none: its content (a repeated transfer has the same bytes)."""
    return "sha256:" + hashlib.sha256(raw).hexdigest()

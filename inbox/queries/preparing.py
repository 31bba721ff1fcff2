"""What filing a parsed mail must know, read in one round trip (inbox/sql/prepare_v1.sql)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from inbox import policy as policies
from inbox.policy import InboxPolicy
from inbox.queries.threading import Candidate, Candidates


@dataclass(frozen=True)
class Target:
    """An e-mail row that waits for its content, its inbox, and what the mail cites there."""

    email_id: UUID
    inbox_id: UUID
    address: str
    policy: InboxPolicy
    closed: str  # why the inbox takes no mail now; empty when it does
    is_last: bool
    candidates: Candidates

    @property
    def seen(self) -> int:
        """How many citations the decision knows of; filing compares it with what is there by then."""
        return sum(len(rows) for rows in self.candidates.values())


@dataclass(frozen=True)
class Prepared:
    """Where a mail goes, and which of its addresses are inboxes of this installation."""

    targets: list[Target]
    own: frozenset[str]


def prepare(
    *, workspace_id: UUID, inbound_message_id: UUID, addresses: Sequence[str], hashes: Sequence[bytes], sender: str
) -> Prepared:
    """Look once. `addresses` are canonical and untagged forms of all that the mail names; `sender` is canonical."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inbox_prepare_v1(%s, %s, %s::text[], %s::bytea[], %s)",
            [workspace_id, inbound_message_id, list(addresses), list(hashes), sender],
        )
        (found,) = cursor.fetchone()
    content = orjson.loads(found) if isinstance(found, str) else found
    by_inbox = _by_inbox(content["citations"])
    last = len(content["targets"]) - 1
    targets = [
        Target(
            email_id=UUID(row["email_id"]),
            inbox_id=UUID(row["inbox_id"]),
            address=row["address"],
            policy=policies.parse(row["policy"]),
            closed=row["closed"],
            is_last=position == last,
            candidates=by_inbox.get(row["inbox_id"], {}),
        )
        for position, row in enumerate(content["targets"])
    ]
    return Prepared(targets, frozenset(content["own"]))


def _by_inbox(citations: Sequence[dict[str, Any]]) -> dict[str, dict[bytes, list[Candidate]]]:
    found: dict[str, dict[bytes, list[Candidate]]] = {}
    # Entries that carry an id come before those that only cite it.
    for row in sorted(citations, key=lambda row: (row["kind"] != "own", row["kind"] != "rewritten")):
        candidate = Candidate(UUID(row["entry_id"]), UUID(row["thread_id"]), row["kind"], row["took_part"])
        found.setdefault(row["inbox_id"], {}).setdefault(bytes.fromhex(row["hash"]), []).append(candidate)
    return found

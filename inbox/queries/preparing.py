"""What filing parsed mails must know, read in one round trip (inbox/sql/prepare_v1.sql)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
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


@dataclass(frozen=True)
class Question:
    """A mail, as far as the look needs it. `addresses` are canonical and untagged forms of all that it names; `sender`
    is canonical."""

    workspace_id: UUID
    inbound_message_id: UUID
    addresses: Sequence[str]
    hashes: Sequence[bytes]
    sender: str


def prepare(questions: Sequence[Question]) -> list[Prepared]:
    """Look once, for all of them: an answer each, in their order."""
    asked = [
        {
            "n": place,
            "workspace_id": one.workspace_id,
            "message_id": one.inbound_message_id,
            "addresses": one.addresses,
            "hashes": [digest.hex() for digest in one.hashes],
            "sender": one.sender,
        }
        for place, one in enumerate(questions, start=1)
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT own::text, targets::text, citations::text FROM inbox_prepare_v1(%s::jsonb) ORDER BY place",
            [orjson.dumps(asked).decode()],
        )
        return [_prepared(*map(orjson.loads, row)) for row in cursor.fetchall()]


def _prepared(own: list[str], rows: list[dict[str, Any]], citations: list[dict[str, Any]]) -> Prepared:
    by_inbox = _by_inbox(citations)
    last = len(rows) - 1
    usual = orjson.dumps(settings.INBOX_POLICY)
    targets = [
        Target(
            email_id=UUID(row["email_id"]),
            inbox_id=UUID(row["inbox_id"]),
            address=row["address"],
            policy=_policy(orjson.dumps(row["policy"]), usual),
            closed=row["closed"],
            is_last=position == last,
            candidates=by_inbox.get(row["inbox_id"], {}),
        )
        for position, row in enumerate(rows)
    ]
    return Prepared(targets, frozenset(own))


@lru_cache(maxsize=1_000)
def _policy(text: bytes, _usual: bytes) -> InboxPolicy:
    """A policy by its text and the installation's own (which it completes): reading one costs more than the rest here."""
    return policies.parse(orjson.loads(text))


def _by_inbox(citations: Sequence[dict[str, Any]]) -> dict[str, dict[bytes, list[Candidate]]]:
    found: dict[str, dict[bytes, list[Candidate]]] = {}
    # Entries that carry an id come before those that only cite it.
    for row in sorted(citations, key=lambda row: (row["kind"] != "own", row["kind"] != "rewritten")):
        candidate = Candidate(UUID(row["entry_id"]), UUID(row["thread_id"]), row["kind"], row["took_part"])
        found.setdefault(row["inbox_id"], {}).setdefault(bytes.fromhex(row["hash"]), []).append(candidate)
    return found

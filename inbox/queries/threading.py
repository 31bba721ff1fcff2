"""Which conversation a mail belongs to, with the rule and the evidence that decided it.

Order (FS-2): an own signed Message-ID that it answers, In-Reply-To, References from last to first, then mail that already
cites this one. A citation alone never joins: the sender must have taken part, or the cited mail must have gone to them
(CW-2, ZM-4), since a Message-ID is known to everybody who got the mail.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import connection

from inbox.models import Entry
from inbox.normalise import lenient
from inbox.tokens import own_entry

MAX_CITED = 50


@dataclass(frozen=True)
class Decision:
    """The thread (None: a new one), the entry that is answered, and why."""

    thread_id: UUID | None
    entry_id: UUID | None = None
    rule: str = "new"
    confidence: str = "certain"
    evidence: dict[str, Any] = field(default_factory=dict)
    # Entries of this inbox that carry the mail's own Message-ID: it may be a second copy of one of them.
    twins: tuple[UUID, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "confidence": self.confidence, "evidence": self.evidence}


@dataclass(frozen=True)
class _Candidate:
    entry_id: UUID
    thread_id: UUID
    kind: str
    took_part: bool


# One round trip for all cited ids. A merged thread is followed to its end (the recursion stops at 20: no cycle can hold it).
_LOOKUP = """
WITH RECURSIVE found AS (
    SELECT r.message_id_hash, r.kind, r.entry_id, e.thread_id, t.merged_into_id, 0 AS depth
    FROM inbox_messagereference r JOIN inbox_entry e ON e.id = r.entry_id JOIN inbox_thread t ON t.id = e.thread_id
    WHERE r.workspace_id = %(workspace)s AND r.inbox_id = %(inbox)s AND r.message_id_hash = ANY(%(hashes)s)
  UNION ALL
    SELECT f.message_id_hash, f.kind, f.entry_id, t.id, t.merged_into_id, f.depth + 1
    FROM found f JOIN inbox_thread t ON t.id = f.merged_into_id WHERE f.depth < 20
)
SELECT f.message_id_hash, f.kind, f.entry_id, f.thread_id, EXISTS (
    SELECT 1 FROM inbox_threadparticipant p WHERE p.thread_id = f.thread_id AND p.address = %(sender)s)
FROM found f WHERE f.merged_into_id IS NULL OR f.depth >= 20
"""


def decide(
    *,
    workspace_id: UUID,
    inbox_id: UUID,
    sender: str,
    message_id: str,
    in_reply_to: Sequence[str],
    references: Sequence[str],
) -> Decision:
    """Find the thread of a mail from its citations. `sender` is canonical; message ids have no angle brackets."""
    cited = list(dict.fromkeys([*in_reply_to, *reversed(references)]))[:MAX_CITED]
    wanted = [*cited, message_id] if message_id else cited
    if not wanted:
        return Decision(thread_id=None, evidence={"why": "it cites no earlier mail"})
    candidates = _candidates(workspace_id, inbox_id, sender, wanted)
    own = candidates.get(_hash(message_id), []) if message_id else []
    twins = tuple(candidate.entry_id for candidate in own if candidate.kind == "own")
    return replace(_join(cited, in_reply_to, sender, message_id, candidates), twins=twins)


def _join(
    cited: Sequence[str],
    in_reply_to: Sequence[str],
    sender: str,
    message_id: str,
    candidates: dict[bytes, list[_Candidate]],
) -> Decision:
    strangers: list[str] = []
    for cited_id in cited:
        rule = _rule(cited_id, in_reply_to)
        for candidate in candidates.get(_hash(cited_id), []):
            if candidate.took_part:
                return Decision(
                    candidate.thread_id,
                    candidate.entry_id if candidate.kind in ("own", "rewritten") else None,
                    rule,
                    "certain" if rule == "signed_reply" else "high",
                    {"cited": cited_id, "sender": sender, "as": candidate.kind},
                )
            strangers.append(cited_id)
    for candidate in candidates.get(_hash(message_id), []) if message_id else []:
        if candidate.kind != "own" and candidate.took_part:
            return Decision(candidate.thread_id, None, "cited_by_later", "high", {"message_id": message_id})
    if strangers:
        why = "it cites a conversation in which its sender never took part"
        return Decision(thread_id=None, rule="new", confidence="high", evidence={"why": why, "cited": strangers[:5]})
    return Decision(thread_id=None, evidence={"why": "nothing that it cites is known here"})


def is_copy(*, twins: Sequence[UUID], sender: str, text: str) -> bool:
    """Whether an earlier entry is the same mail: same Message-ID (checked before), same sender, same text.

    The Message-ID alone would let a stranger suppress a mail by sending its id first.
    """
    rows = (
        Entry.objects.filter(id__in=twins, direction="inbound")
        .select_related("email")
        .only("body_text", "email__from_address")
    )
    return any(
        row.body_text == text and row.email is not None and lenient(row.email.from_address) == sender for row in rows
    )


def _rule(cited_id: str, in_reply_to: Sequence[str]) -> str:
    if own_entry(cited_id) is not None:
        return "signed_reply"
    return "in_reply_to" if cited_id in in_reply_to else "references"


def _hash(message_id: str) -> bytes:
    return hashlib.sha256(message_id.encode()).digest()


def _candidates(
    workspace_id: UUID, inbox_id: UUID, sender: str, wanted: Sequence[str]
) -> dict[bytes, list[_Candidate]]:
    found: dict[bytes, list[_Candidate]] = {}
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "inbox": inbox_id,
        "hashes": [_hash(item) for item in wanted],
        "sender": sender,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOOKUP, values)
        for digest, kind, entry_id, thread_id, took_part in cursor.fetchall():
            found.setdefault(bytes(digest), []).append(_Candidate(entry_id, thread_id, kind, took_part))
    for rows in found.values():
        rows.sort(key=lambda row: (row.kind != "own", row.kind != "rewritten"))
    return found

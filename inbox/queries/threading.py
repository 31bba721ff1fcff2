"""Which conversation a mail belongs to, with the rule and the evidence that decided it.

Order (FS-2): an own signed Message-ID that it answers, In-Reply-To, References from last to first, then mail that already
cites this one. A citation alone never joins: the sender must have taken part, or the cited mail must have gone to them
(CW-2, ZM-4), since a Message-ID is known to everybody who got the mail.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from inbox.models import Entry
from inbox.normalise import lenient
from inbox.tokens import own_entry

MAX_CITED = 50

Candidates = Mapping[bytes, Sequence["Candidate"]]


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
class Candidate:
    """An entry that carries or cites a Message-ID, and whether the mail's sender took part in its thread."""

    entry_id: UUID
    thread_id: UUID
    kind: str
    took_part: bool


def decide(
    *,
    candidates: Candidates,
    sender: str,
    message_id: str,
    in_reply_to: Sequence[str],
    references: Sequence[str],
) -> Decision:
    """Choose the thread of a mail among what it cites. `sender` is canonical; message ids have no angle brackets."""
    cited = _cited(in_reply_to, references)
    if not cited and not message_id:
        return Decision(thread_id=None, evidence={"why": "it cites no earlier mail"})
    own = candidates.get(_hash(message_id), []) if message_id else []
    twins = tuple(candidate.entry_id for candidate in own if candidate.kind == "own")
    return replace(_join(cited, in_reply_to, sender, message_id, candidates), twins=twins)


def as_stranger(candidates: Candidates) -> Candidates:
    """What a mail cites, for a sender who has taken part in nothing: whose address in From is not proven to be theirs."""
    return {key: [replace(candidate, took_part=False) for candidate in rows] for key, rows in candidates.items()}


def _join(
    cited: Sequence[str],
    in_reply_to: Sequence[str],
    sender: str,
    message_id: str,
    candidates: Candidates,
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


def _cited(in_reply_to: Sequence[str], references: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*in_reply_to, *reversed(references)]))[:MAX_CITED]


def wanted(*, message_id: str, in_reply_to: Sequence[str], references: Sequence[str]) -> list[bytes]:
    """The keys of all message ids that `decide` may ask for."""
    ids = [*_cited(in_reply_to, references), *([message_id] if message_id else [])]
    return [_hash(item) for item in ids]


def _hash(message_id: str) -> bytes:
    return hashlib.sha256(message_id.encode()).digest()

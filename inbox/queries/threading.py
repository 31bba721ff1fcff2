"""Which conversation a mail belongs to, with the rule and the evidence that decided it.

Order (FS-2): signed tags of our reply addresses, signed Message-IDs of ours that it cites, In-Reply-To, References from
last to first, then mail that already cites this one. An id leads to the mail that bears it or, where we have none, to
others that cite it; of several entries the newest counts. A citation alone never joins: the sender must
have taken part, or the cited mail must have gone to them (CW-2, ZM-4), since a Message-ID is known to everybody who got
the mail.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from inbox.models import Entry
from inbox.normalise import lenient
from inbox.queries import authors
from inbox.tokens import own_entry
from inbox.types import Confidence, ReferenceKind, Rule

MAX_CITED = 50
# What proves that a mail answers one of ours.
PROVEN = frozenset({Rule.SIGNED_REPLY, Rule.REPLY_ADDRESS})
_SHOWN = 5

Candidates = Mapping[bytes, Sequence["Candidate"]]


@dataclass(frozen=True)
class Decision:
    """The thread (None: a new one), the entry that is answered, and why."""

    thread_id: UUID | None
    entry_id: UUID | None = None
    rule: Rule = Rule.NEW
    confidence: Confidence = Confidence.CERTAIN
    evidence: dict[str, Any] = field(default_factory=dict)
    # The entry that led to the thread: when it is elsewhere by the time of filing, the mail is decided anew.
    via: UUID | None = None
    # Entries of this inbox that carry the mail's own Message-ID: it may be a second copy of one of them.
    twins: tuple[UUID, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule.value, "confidence": self.confidence.value, "evidence": self.evidence}


@dataclass(frozen=True)
class Candidate:
    """An entry that carries or cites a Message-ID, and whether the mail's sender took part in its thread.

    Those of one Message-ID come with the newest first.
    """

    entry_id: UUID
    thread_id: UUID
    kind: str
    took_part: bool

    @property
    def is_cited_itself(self) -> bool:
        return self.kind in (ReferenceKind.OWN, ReferenceKind.REWRITTEN)


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
    own = candidates.get(reference_hash(message_id), []) if message_id else []
    twins = tuple(candidate.entry_id for candidate in own if candidate.kind == "own")
    return replace(_join(cited, in_reply_to, sender, message_id, candidates), twins=twins)


def as_stranger(candidates: Candidates) -> Candidates:
    """What a mail cites, for a sender who has taken part in nothing: whose address in From is not proven to be theirs."""
    return {key: [replace(candidate, took_part=False) for candidate in rows] for key, rows in candidates.items()}


def as_insider(candidates: Candidates) -> Candidates:
    """The same for who speaks for the inbox itself, and so takes part in all that it holds."""
    return {key: [replace(candidate, took_part=True) for candidate in rows] for key, rows in candidates.items()}


def _join(
    cited: Sequence[str],
    in_reply_to: Sequence[str],
    sender: str,
    message_id: str,
    candidates: Candidates,
) -> Decision:
    found = [
        (cited_id, candidate)
        for cited_id in cited
        for candidate in _meant(candidates.get(reference_hash(cited_id), []))
    ]
    joinable = [(cited_id, candidate) for cited_id, candidate in found if candidate.took_part]
    strange = list(dict.fromkeys(str(candidate.thread_id) for _, candidate in found if not candidate.took_part))
    if joinable:
        cited_id, candidate = joinable[0]
        rule = _rule(cited_id, in_reply_to)
        others = {str(other.thread_id) for _, other in joinable} - {str(candidate.thread_id)}
        evidence: dict[str, Any] = {"cited": cited_id, "sender": sender, "as": candidate.kind}
        return Decision(
            candidate.thread_id,
            candidate.entry_id if candidate.is_cited_itself else None,
            rule,
            Confidence.CERTAIN if rule == Rule.SIGNED_REPLY else Confidence.HIGH,
            evidence | ({"also_cited": sorted(others)[:_SHOWN]} if others else {}),
            candidate.entry_id,
        )
    for candidate in candidates.get(reference_hash(message_id), []) if message_id else []:
        if candidate.kind != ReferenceKind.OWN and candidate.took_part:
            evidence = {"message_id": message_id}
            return Decision(
                candidate.thread_id, None, Rule.CITED_BY_LATER, Confidence.HIGH, evidence, candidate.entry_id
            )
    if strange:
        why = "it cites a conversation in which its sender never took part"
        ids = list(dict.fromkeys(cited_id for cited_id, _ in found))[:_SHOWN]
        evidence = {"why": why, "cited": ids, "possibly_related": strange[:_SHOWN]}
        return Decision(thread_id=None, confidence=Confidence.HIGH, evidence=evidence)
    why = "nothing that it cites is known here" if cited else "it cites no earlier mail"
    return Decision(thread_id=None, evidence={"why": why})


def _meant(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    return [candidate for candidate in candidates if candidate.is_cited_itself] or candidates


def is_copy(*, twins: Sequence[UUID], sender: str, text: str) -> bool:
    """Whether an earlier entry is the same mail: same Message-ID (checked before), same sender, same text.

    The Message-ID alone would let a stranger suppress a mail by sending its id first.
    """
    rows = (
        Entry.objects.filter(id__in=twins, direction="inbound")
        .select_related("email")
        .only("body_text", *(f"email__{name}" for name in authors.FIELDS))
    )
    return any(
        row.body_text == text and row.email is not None and lenient(authors.of(row.email)[1]) == sender for row in rows
    )


def _rule(cited_id: str, in_reply_to: Sequence[str]) -> Rule:
    if own_entry(cited_id) is not None:
        return Rule.SIGNED_REPLY
    return Rule.IN_REPLY_TO if cited_id in in_reply_to else Rule.REFERENCES


def _cited(in_reply_to: Sequence[str], references: Sequence[str]) -> list[str]:
    """In the order in which they decide: what we have signed comes first."""
    found = list(dict.fromkeys([*in_reply_to, *reversed(references)]))[:MAX_CITED]
    return sorted(found, key=lambda cited_id: own_entry(cited_id) is None)


def wanted(*, message_id: str, in_reply_to: Sequence[str], references: Sequence[str]) -> list[bytes]:
    """The keys of all message ids that `decide` may ask for."""
    ids = [*_cited(in_reply_to, references), *([message_id] if message_id else [])]
    return [reference_hash(item) for item in ids]


def reference_hash(message_id: str) -> bytes:
    """The key of a Message-ID (without angle brackets) in the reference index."""
    return hashlib.sha256(message_id.encode()).digest()

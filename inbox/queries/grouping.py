"""Mail of one sender with one subject as one conversation (CW-3): only where the inbox's policy asks for it.

Sender and subject of each mail are kept as a reference of their own kind, under a name that no Message-ID can have (it
holds a space). So the lock and the second look that keep mails which cite one another in one thread do so here as well.
"""

import hashlib
import re
from datetime import timedelta
from uuid import UUID

from inbox.models import MessageReference, ThreadParticipant
from inbox.queries.threading import Decision
from inbox.types import Confidence, ReferenceKind, Rule, ThreadStatus
from kernel import clock

# Answers and forwards in many languages, and what gateways put in front: [EXT], [EXTERNAL], [SPAM?].
_BEFORE = re.compile(
    r"^\s*(?:(?:re|aw|sv|vs|antw|odp|rv|ref|res|fwd?|wg|tr|enc|vb|vl|pd|doorst)\s*(?:\[\d+\])?\s*[::]"
    r"|\[\s*(?:ext|extern|external|externe|spam\??)\s*\])\s*",
    re.IGNORECASE,
)
_SHORTEST = 3
_LONGEST = 300


def key(*, sender: str, subject: str) -> str:
    """The name of sender and subject in the index of references; empty when the subject says too little."""
    plain = normal(subject)
    return f"{sender} {plain}" if sender and len(plain) >= _SHORTEST else ""


def normal(subject: str) -> str:
    """The subject without what mail programs and gateways put in front, in small letters."""
    while True:
        shorter = _BEFORE.sub("", subject, count=1)
        if shorter == subject:
            return " ".join(shorter.split()).casefold()[:_LONGEST]
        subject = shorter


def find(*, inbox_id: UUID, name: str, sender: str, within: timedelta) -> tuple[Decision | None, int]:
    """The newest open conversation of the sender with that subject, and how many mails have had it in the inbox."""
    rows = MessageReference.objects.filter(inbox_id=inbox_id, message_id_hash=digest(name)).order_by("-entry__seq")
    found = list(
        rows.values_list(
            "entry_id", "entry__thread_id", "entry__thread__status", "entry__thread__merged_into_id",
            "entry__thread__last_entry_at", "kind",
        )
    )  # fmt: skip
    since = clock.now() - within
    for entry_id, thread_id, status, merged_into, last_at, kind in found:
        is_open = status == ThreadStatus.OPEN and merged_into is None and last_at >= since
        if kind == ReferenceKind.SUBJECT and is_open and _took_part(thread_id, sender):
            evidence = {"subject": name.partition(" ")[2], "sender": sender}
            return Decision(thread_id, None, Rule.SUBJECT, Confidence.LOW, evidence, entry_id), len(found)
    return None, len(found)


def digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _took_part(thread_id: UUID, sender: str) -> bool:
    return ThreadParticipant.objects.filter(thread_id=thread_id, address=sender).exists()

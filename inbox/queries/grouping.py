"""Mail of one sender with one subject as one conversation (CW-3): only where the inbox's policy asks for it.

Sender and subject of each mail are kept as a reference of their own kind, under a name that no Message-ID can have (it
holds a space). So the lock and the second look that keep mails which cite one another in one thread do so here as well.
"""

from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef

from inbox.mime import subjects
from inbox.models import MessageReference, ThreadParticipant
from inbox.queries.threading import Decision, reference_hash
from inbox.types import Confidence, ReferenceKind, Rule, ThreadStatus
from kernel import clock

_SHORTEST = 3
_LONGEST = 300


def key(*, sender: str, subject: str) -> str:
    """The name of sender and subject in the index of references; empty when the subject says too little."""
    plain = normal(subject)
    return f"{sender} {plain}" if sender and len(plain) >= _SHORTEST else ""


def normal(subject: str) -> str:
    """The subject without what mail programs and gateways put in front, in small letters."""
    return " ".join(subjects.bare(subject).split()).casefold()[:_LONGEST]


def find(*, inbox_id: UUID, name: str, sender: str, within: timedelta) -> tuple[Decision | None, int]:
    """The newest open conversation of the sender with that subject, and how many mails have had it in the inbox."""
    rows = MessageReference.objects.filter(inbox_id=inbox_id, message_id_hash=reference_hash(name))
    took_part = ThreadParticipant.objects.filter(thread_id=OuterRef("entry__thread_id"), address=sender)
    fitting = rows.filter(
        Exists(took_part),
        kind=ReferenceKind.SUBJECT,
        entry__thread__status=ThreadStatus.OPEN,
        entry__thread__merged_into=None,
        entry__thread__last_entry_at__gte=clock.now() - within,
    )
    seen = rows.count()
    found = fitting.order_by("-entry__seq").values_list("entry_id", "entry__thread_id").first() if seen else None
    if found is None:
        return None, seen
    entry_id, thread_id = found
    evidence = {"subject": name.partition(" ")[2], "sender": sender}
    return Decision(thread_id, None, Rule.SUBJECT, Confidence.LOW, evidence, entry_id), seen

"""Labels, notes and canned answers of the workspace in sight."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import QuerySet

from inbox.queries import conversations
from tickets.models import Annotation, CannedAnswer, Tag, ThreadTag


def tags() -> "QuerySet[Tag]":
    """All labels, by name."""
    return Tag.objects.order_by("name", "id")


def answers() -> "QuerySet[CannedAnswer]":
    """All canned answers, by name."""
    return CannedAnswer.objects.order_by("name", "id")


def of_threads(thread_ids: Iterable[UUID]) -> dict[UUID, list[Tag]]:
    """The labels of conversations, by conversation."""
    found: dict[UUID, list[Tag]] = {}
    links = ThreadTag.objects.filter(thread_id__in=list(thread_ids)).select_related("tag")
    for link in links.order_by("tag__name"):
        found.setdefault(link.thread_id, []).append(link.tag)
    return found


def notes(thread_id: UUID, *, merged: Sequence[UUID] | None = None) -> "QuerySet[Annotation]":
    """The notes of a conversation and of what was merged into it, so that undoing a merge is exact. `merged`: as
    `conversations.merged_into` has told already.

    A note on a message is where its message is, also after a split.
    """
    threads = conversations.merged_into(thread_id) if merged is None else merged
    on_none = Annotation.objects.filter(thread_id__in=threads, entry=None)
    on_messages = Annotation.objects.filter(entry__thread_id=thread_id)
    return Annotation.objects.filter(id__in=on_none.values("id").union(on_messages.values("id"), all=True))

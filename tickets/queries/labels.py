"""Labels, notes and canned answers of the workspace in sight."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

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


def notes(thread_ids: Iterable[UUID]) -> "QuerySet[Annotation]":
    """The notes of conversations, in the order of the conversation."""
    return Annotation.objects.filter(thread_id__in=list(thread_ids)).order_by("seq")

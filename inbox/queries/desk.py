"""Conversations as the desk lists them."""

from uuid import UUID

from django.db.models import QuerySet

from inbox.models import Entry, Inbox, Thread


def threads() -> "QuerySet[Thread]":
    """Those of the scope in sight that were not merged into another."""
    return Thread.objects.filter(merged_into=None)


def has_entry(*, thread_id: UUID, entry_id: UUID) -> bool:
    """Whether a message is part of a conversation."""
    return Entry.objects.filter(id=entry_id, thread_id=thread_id).exists()


def has_inbox(inbox_id: UUID) -> bool:
    """Whether the workspace in sight has such an inbox."""
    return Inbox.objects.filter(id=inbox_id).exists()

"""How inboxes, e-mails and threads are shown beside what refers to them."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from inbox.api import shapes
from inbox.models import Email, Inbox, Thread
from kernel.api.expanding import expandable


@expandable("inbox", permission="inbox.read", shape=shapes.InboxShape)
def inboxes(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Inboxes by id."""
    for row in Inbox.objects.filter(id__in=ids).prefetch_related("addresses"):
        yield row.id, shapes.InboxShape.show(row)


@expandable("email", permission="email.read", shape=shapes.EmailShape)
def emails(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """E-mails by id."""
    for row in Email.objects.select_related("entry").filter(id__in=ids):
        yield row.id, shapes.EmailShape.show(row)


@expandable("thread", permission="thread.read", shape=shapes.ThreadShape)
def threads(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Threads by id."""
    for row in Thread.objects.filter(id__in=ids):
        yield row.id, shapes.ThreadShape.show(row)

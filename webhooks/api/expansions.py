"""How webhooks and events are shown beside the deliveries that refer to them."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from kernel.api.expanding import expandable
from webhooks.api import rendering, shapes
from webhooks.queries import listing


@expandable("webhook", permission="webhook.read", shape=shapes.WebhookShape)
def webhooks(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Webhooks by id."""
    for row in listing.webhooks().filter(id__in=ids):
        yield row.id, rendering.webhook(row)


@expandable("system_event", permission="event.read", shape=shapes.EventShape)
def system_events(ids: Collection[UUID]) -> Iterable[tuple[Any, Any]]:
    """Events by id."""
    for row in listing.system_events().filter(id__in=ids):
        yield row.id, rendering.system_event(row)

"""Send a made-up event to one endpoint, through the same queue and signature as every real one, and once only."""

from uuid import UUID, uuid4

from django.db.models.functions import Now

from kernel import clock
from kernel.errors import Conflict
from kernel.transactions import after_commit, in_workspace
from webhooks.events import WebhookTested
from webhooks.models import SystemEvent, WebhookDelivery
from webhooks.queries import webhooks
from webhooks.services import dispatching, journal
from webhooks.transport import wakeups
from webhooks.types import WebhookState

_MESSAGE = "This is a test. If you can read it and the signature verifies, the endpoint works."


def send_test(*, workspace_id: UUID, webhook_id: UUID) -> WebhookDelivery:
    """Queue a `webhook.test` event for one webhook only; its delivery tells how it went."""
    with in_workspace(workspace_id):
        webhook = webhooks.get(webhook_id)
        if webhook.state != WebhookState.ACTIVE:
            raise Conflict("The webhook is disabled. Enable it before testing.")
        fact = WebhookTested(workspace_id=workspace_id, webhook_id=webhook_id, message=_MESSAGE)
        event_id, now = uuid4(), clock.now()
        event = SystemEvent.objects.create(
            id=event_id,
            workspace_id=workspace_id,
            slug=fact.slug,
            version=fact.version,
            aggregate_key=fact.aggregate_key,
            occurred_at=now,
            body=dispatching.body(fact=fact, event_id=event_id, at=now),
        )
        delivery = WebhookDelivery.objects.create(
            workspace_id=workspace_id,
            webhook=webhook,
            system_event=event,
            due_at=Now(),
            # Before everything that waits in an ordered queue: a test is to answer at once.
            sequence=0 if webhook.ordered else None,
        )
        delivery.refresh_from_db()
        journal.note(workspace_id=workspace_id, webhook_id=webhook_id, verb="test", delivery_id=delivery.id)
        after_commit(wakeups.ring)
    return delivery

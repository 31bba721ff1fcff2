"""Finding webhooks of the current scope."""

from uuid import UUID

from kernel.errors import NotFound
from webhooks.models import Webhook


def get(webhook_id: UUID) -> Webhook:
    """The webhook; NotFound also for those of other workspaces and deleted ones."""
    webhook = Webhook.objects.filter(id=webhook_id).first()
    if webhook is None:
        raise NotFound
    return webhook


def locked(webhook_id: UUID) -> Webhook:
    """The same, locked against other changes until the unit of work ends; deliveries can still be added meanwhile."""
    webhook = Webhook.objects.select_for_update(no_key=True).filter(id=webhook_id).first()
    if webhook is None:
        raise NotFound
    return webhook

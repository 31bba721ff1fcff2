from webhooks.models.delivery import WebhookAttempt, WebhookDelivery
from webhooks.models.subscription import Webhook
from webhooks.models.system_event import SystemEvent

__all__ = ["SystemEvent", "Webhook", "WebhookAttempt", "WebhookDelivery"]

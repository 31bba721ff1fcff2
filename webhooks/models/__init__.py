from webhooks.models.delivery import WebhookAttempt, WebhookDelivery
from webhooks.models.provider_event import ProviderEvent
from webhooks.models.subscription import Webhook
from webhooks.models.system_event import SystemEvent

__all__ = ["ProviderEvent", "SystemEvent", "Webhook", "WebhookAttempt", "WebhookDelivery"]

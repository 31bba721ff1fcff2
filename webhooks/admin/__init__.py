"""The console's lists of webhooks, deliveries and events, and the form of a webhook."""

from webhooks.admin import deliveries as deliveries
from webhooks.admin import events as events
from webhooks.admin import subscriptions as subscriptions

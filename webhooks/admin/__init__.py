"""The console's lists of webhooks, deliveries, events and callbacks, and the form of a webhook."""

from webhooks.admin import callbacks as callbacks
from webhooks.admin import deliveries as deliveries
from webhooks.admin import events as events
from webhooks.admin import subscriptions as subscriptions

"""Routes."""

from rest_framework.routers import SimpleRouter

from webhooks.api import expansions, views  # noqa: F401 - expansions registers how others show its resources

router = SimpleRouter(trailing_slash=False)
router.register("webhooks", views.WebhookViewSet, basename="webhook")
router.register("webhook-deliveries", views.WebhookDeliveryViewSet, basename="webhook-delivery")
router.register("system-events", views.SystemEventViewSet, basename="system-event")
router.register("event-types", views.EventTypeViewSet, basename="event-type")

urlpatterns = router.urls

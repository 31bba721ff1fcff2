"""Routes."""

from rest_framework.routers import SimpleRouter

from audit.api import events, requests

router = SimpleRouter(trailing_slash=False)
router.register("audit-events", events.AuditEventViewSet)
router.register("audit-anchors", events.AnchorViewSet)
router.register("request-log", requests.RequestLogViewSet, basename="request-log")

urlpatterns = router.urls

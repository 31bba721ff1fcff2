"""Routes."""

from rest_framework.routers import SimpleRouter

from audit import api

router = SimpleRouter(trailing_slash=False)
router.register("request-log", api.RequestLogViewSet, basename="request-log")

urlpatterns = router.urls

from rest_framework.routers import SimpleRouter

from inbox.api import breakers, connections, expansions, rearranging, views  # noqa: F401 - expansions registers how others show its resources

router = SimpleRouter(trailing_slash=False)
router.register("emails", views.EmailViewSet)
router.register("threads", views.ThreadViewSet)
router.register("inboxes", views.InboxViewSet)
router.register("connections", connections.ConnectionViewSet)
router.register("thread-changes", rearranging.ThreadChangeViewSet)
router.register("circuit-breakers", breakers.CircuitBreakerViewSet)
router.register("attachments", views.AttachmentViewSet)

urlpatterns = router.urls

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from inbox.api import connections, expansions, views  # noqa: F401 - expansions registers how others show its resources

router = SimpleRouter(trailing_slash=False)
router.register("inboxes", views.InboxViewSet)
router.register("connections", connections.ConnectionViewSet)
router.register("emails", views.EmailViewSet)
router.register("threads", views.ThreadViewSet)
router.register("attachments", views.AttachmentViewSet)

urlpatterns = [path("", include(router.urls))]

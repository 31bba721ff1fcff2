"""Routes."""

from rest_framework.routers import SimpleRouter

from tickets.api import views

router = SimpleRouter(trailing_slash=False)
router.register("tags", views.TagViewSet, basename="tag")
router.register("threads", views.ThreadDeskViewSet, basename="thread-desk")
router.register("views", views.SavedViewViewSet, basename="view")
router.register("canned-answers", views.CannedAnswerViewSet, basename="canned-answer")

urlpatterns = router.urls

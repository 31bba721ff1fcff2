from django.urls import include, path
from rest_framework.routers import SimpleRouter

from agents.api import expansions, views  # noqa: F401 - expansions registers how others show its resources

router = SimpleRouter(trailing_slash=False)
router.register("agents", views.AgentViewSet)
router.register("agent-runs", views.AgentRunViewSet)
router.register("approvals", views.ApprovalViewSet)
router.register("knowledge-sources", views.KnowledgeSourceViewSet)

urlpatterns = [path("", include(router.urls))]

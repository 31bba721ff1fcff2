from rest_framework.routers import SimpleRouter

from agents.api import expansions, replies, views  # noqa: F401 - expansions registers how others show its resources

router = SimpleRouter(trailing_slash=False)
router.register("agents", views.AgentViewSet)
router.register("agent-runs", views.AgentRunViewSet)
router.register("approvals", views.ApprovalViewSet)
router.register("knowledge-sources", views.KnowledgeSourceViewSet)
router.register("knowledge-passages", replies.PassageViewSet)
router.register("replies", replies.ReplyViewSet)

urlpatterns = router.urls

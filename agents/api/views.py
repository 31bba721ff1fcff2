"""Agents, their runs, the questions they ask and the knowledge they answer from, over HTTP."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import filters, shapes
from agents.models import Agent, AgentRun, ApprovalRequest, KnowledgeSource
from agents.queries import agents as agent_queries
from agents.queries import runs as run_queries
from agents.services import approving, configuring, learning
from kernel.api.listings import Listing
from kernel.api.lookup import one
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet


@extend_schema_view(
    list=extend_schema(responses=listing(shapes.AgentShape, "Agent")),
    destroy=extend_schema(responses={204: None}),
)
@extend_schema(tags=["agents"])
class AgentViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "agent.read",
        "retrieve": "agent.read",
        "create": "agent.manage",
        "partial_update": "agent.manage",
        "destroy": "agent.manage",
    }
    listings: ClassVar = {"list": Listing(filters=filters.AgentFilters, sorts=("created_at", "name", "updated_at"))}
    queryset = Agent.unfenced.none()
    serializer_class = shapes.AgentShape

    def list(self, request: Request) -> Response:
        """The agents of the workspace, each with its present version."""
        return self.listed(agent_queries.with_version(), shapes.AgentShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One agent with its present version."""
        return Response(self._shown(pk))

    @extend_schema(
        request=shapes.AgentInput,
        responses={201: shapes.AgentShape},
        examples=[
            OpenApiExample(
                "agent",
                {"name": "Support", "autonomy": "supervised", "system_prompt": "You answer customers of Acme."},
                request_only=True,
            )
        ],
    )
    def create(self, request: Request) -> Response:
        """Make an agent. It drafts until you give it more autonomy."""
        agent = configuring.create(workspace_id=self.principal.workspace_id, **self.checked(shapes.AgentInput))
        return Response(self._shown(agent.id), status=201)

    @extend_schema(
        request=shapes.AgentChange,
        responses=shapes.AgentShape,
        examples=[OpenApiExample("pause", {"status": "paused"}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change an agent. Every change is a new version; what waits for approval belongs to the old one."""
        changes = self.checked(shapes.AgentChange)
        configuring.update(workspace_id=self.principal.workspace_id, agent_id=pk, **changes)
        return Response(self._shown(pk))

    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete an agent. Its runs and versions stay readable."""
        configuring.delete(workspace_id=self.principal.workspace_id, agent_id=pk)
        return Response(status=204)

    def _shown(self, pk: UUID) -> Any:
        return shapes.AgentShape.show(one(agent_queries.with_version().filter(id=pk)))


@extend_schema_view(
    list=extend_schema(responses=listing(shapes.RunShape, "AgentRun")),
    retrieve=extend_schema(responses=shapes.RunDetailShape),
)
@extend_schema(tags=["agent-runs"])
class AgentRunViewSet(WorkspaceViewSet):
    """Read-only: workers make runs."""

    permissions: ClassVar[dict[str, str]] = {"list": "agent.read", "retrieve": "agent.read"}
    listings: ClassVar = {"list": Listing(filters=filters.RunFilters)}
    expands: ClassVar = {"agent": "agent_id", "email": "email_id"}
    queryset = AgentRun.unfenced.none()
    serializer_class = shapes.RunShape

    def list(self, request: Request) -> Response:
        """Runs of agents against mails, newest first."""
        return self.listed(run_queries.runs(), shapes.RunShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One run with its steps, what it wants to do, and the question that waits for a person."""
        return Response(shapes.RunDetailShape.show(one(run_queries.runs_in_full().filter(id=pk))))


@extend_schema_view(list=extend_schema(responses=listing(shapes.ApprovalShape, "Approval")))
@extend_schema(tags=["approvals"])
class ApprovalViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "approval.read",
        "retrieve": "approval.read",
        "approve": "approval.decide",
        "reject": "approval.decide",
    }
    listings: ClassVar = {"list": Listing(filters=filters.ApprovalFilters, sorts=("created_at", "expires_at"))}
    expands: ClassVar = {"agent_run": "agent_run_id", "email": "email_id"}
    queryset = ApprovalRequest.unfenced.none()
    serializer_class = shapes.ApprovalShape

    def list(self, request: Request) -> Response:
        """What agents have asked people, newest first."""
        return self.listed(run_queries.approvals(), shapes.ApprovalShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One question: exactly what is asked for, and what became of it."""
        return Response(self._shown(pk))

    @extend_schema(
        request=shapes.ApproveInput,
        responses=shapes.ApprovalShape,
        examples=[
            OpenApiExample("in other words", {"text": "We are open until 14.", "comment": "shorter"}, request_only=True)
        ],
    )
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: UUID) -> Response:
        """Allow exactly this content once, or give `text` to have that sent in its place."""
        given = self.checked(shapes.ApproveInput)
        approving.approve(
            workspace_id=self.principal.workspace_id,
            approval_id=pk,
            actor=self.principal.actor,
            comment=given["comment"],
            edited_text=given.get("text"),
        )
        return Response(self._shown(pk))

    @extend_schema(
        request=shapes.RejectInput,
        responses=shapes.ApprovalShape,
        examples=[OpenApiExample("no", {"comment": "A person calls back."}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: UUID) -> Response:
        """Refuse it. Nothing is sent, and a person answers the mail."""
        given = self.checked(shapes.RejectInput)
        approving.reject(
            workspace_id=self.principal.workspace_id,
            approval_id=pk,
            actor=self.principal.actor,
            comment=given["comment"],
        )
        return Response(self._shown(pk))

    def _shown(self, pk: UUID) -> Any:
        return shapes.ApprovalShape.show(one(run_queries.approvals(id=pk)))


@extend_schema_view(
    list=extend_schema(responses=listing(shapes.KnowledgeShape, "KnowledgeSource")),
    retrieve=extend_schema(responses=shapes.KnowledgeDetailShape),
    destroy=extend_schema(responses={204: None}),
)
@extend_schema(tags=["knowledge-sources"])
class KnowledgeSourceViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "agent.read",
        "retrieve": "agent.read",
        "create": "agent.manage",
        "partial_update": "agent.manage",
        "destroy": "agent.manage",
    }
    listings: ClassVar = {
        "list": Listing(filters=filters.KnowledgeFilters, sorts=("created_at", "title", "updated_at"))
    }
    queryset = KnowledgeSource.unfenced.none()
    serializer_class = shapes.KnowledgeDetailShape

    def list(self, request: Request) -> Response:
        """What agents may answer from, without the texts."""
        rows = KnowledgeSource.objects.defer("content")
        return self.listed(rows, shapes.KnowledgeShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One document with its text."""
        return Response(self._shown(pk))

    @extend_schema(
        request=shapes.KnowledgeInput,
        responses={201: shapes.KnowledgeDetailShape},
        examples=[
            OpenApiExample(
                "document",
                {"title": "Shipping", "content": "# Shipping\n\nOrders leave within two working days."},
                request_only=True,
            )
        ],
    )
    def create(self, request: Request) -> Response:
        """Give agents a document to answer from."""
        source = learning.add(workspace_id=self.principal.workspace_id, **self.checked(shapes.KnowledgeInput))
        return Response(self._shown(source.id), status=201)

    @extend_schema(
        request=shapes.KnowledgeChange,
        responses=shapes.KnowledgeDetailShape,
        examples=[OpenApiExample("new title", {"title": "Shipping and returns"}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a document. Its passages follow when the words change."""
        changes = self.checked(shapes.KnowledgeChange)
        learning.replace(workspace_id=self.principal.workspace_id, source_id=pk, **changes)
        return Response(self._shown(pk))

    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a document. No run finds it from then on."""
        learning.remove(workspace_id=self.principal.workspace_id, source_id=pk)
        return Response(status=204)

    def _shown(self, pk: UUID) -> Any:
        return shapes.KnowledgeDetailShape.show(one(KnowledgeSource.objects.filter(id=pk)))

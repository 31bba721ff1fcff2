"""Agents, their runs, the questions they ask and the knowledge they answer from, over HTTP."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import shapes
from agents.models import Agent, AgentRun, ApprovalRequest, KnowledgeSource
from agents.queries import agents as agent_queries
from agents.queries import runs as run_queries
from agents.services import approving, configuring, learning
from agents.types import ApprovalState, ExecutionStatus
from kernel.api.paging import page
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from kernel.errors import Invalid, NotFound

PAGING = [
    OpenApiParameter("cursor", str, description="From `next` or `previous` of a page."),
    OpenApiParameter("limit", int, description="1 to 100; 25 if not given."),
]


@extend_schema_view(
    list=extend_schema(parameters=PAGING, responses=listing(shapes.AgentShape, "Agent")),
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
    queryset = Agent.unfenced.none()
    serializer_class = shapes.AgentShape

    def list(self, request: Request) -> Response:
        return Response(page(request, agent_queries.with_version(), shapes.AgentShape().to_representation))

    def retrieve(self, request: Request, pk: UUID) -> Response:
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
        agent = configuring.create(workspace_id=self.principal.workspace_id, **self.checked(shapes.AgentInput))
        return Response(self._shown(agent.id), status=201)

    @extend_schema(request=shapes.AgentChange, responses=shapes.AgentShape)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change an agent. Every change is a new version; what waits for approval belongs to the old one."""
        changes = self.checked(shapes.AgentChange)
        configuring.update(workspace_id=self.principal.workspace_id, agent_id=pk, **changes)
        return Response(self._shown(pk))

    def destroy(self, request: Request, pk: UUID) -> Response:
        configuring.delete(workspace_id=self.principal.workspace_id, agent_id=pk)
        return Response(status=204)

    def _shown(self, pk: UUID) -> Any:
        return shapes.AgentShape(_one(agent_queries.with_version().filter(id=pk))).data


@extend_schema_view(
    list=extend_schema(
        parameters=[
            *PAGING,
            OpenApiParameter("status", str, enum=ExecutionStatus.values),
            OpenApiParameter("agent_id", UUID),
            OpenApiParameter("email_id", UUID),
        ],
        responses=listing(shapes.RunShape, "AgentRun"),
    ),
    retrieve=extend_schema(responses=shapes.RunDetailShape),
)
@extend_schema(tags=["agent-runs"])
class AgentRunViewSet(WorkspaceViewSet):
    """Read-only: workers make runs."""

    permissions: ClassVar[dict[str, str]] = {"list": "agent.read", "retrieve": "agent.read"}
    queryset = AgentRun.unfenced.none()
    serializer_class = shapes.RunShape

    def list(self, request: Request) -> Response:
        rows = run_queries.runs()
        if "status" in request.query_params:
            status = _choice(request, "status", ExecutionStatus.values)
            rows = rows.filter(execution__status=status)
        for name in ("agent_id", "email_id"):
            if name in request.query_params:
                rows = rows.filter(**{name: _uuid(request, name)})
        return Response(page(request, rows, shapes.RunShape().to_representation))

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(shapes.RunDetailShape(_one(run_queries.runs_in_full().filter(id=pk))).data)


@extend_schema_view(
    list=extend_schema(
        parameters=[*PAGING, OpenApiParameter("state", str, enum=ApprovalState.values)],
        responses=listing(shapes.ApprovalShape, "Approval"),
    )
)
@extend_schema(tags=["approvals"])
class ApprovalViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "approval.read",
        "retrieve": "approval.read",
        "approve": "approval.decide",
        "reject": "approval.decide",
    }
    queryset = ApprovalRequest.unfenced.none()
    serializer_class = shapes.ApprovalShape

    def list(self, request: Request) -> Response:
        rows = run_queries.approvals()
        if "state" in request.query_params:
            rows = rows.filter(state=_choice(request, "state", ApprovalState.values))
        return Response(page(request, rows, shapes.ApprovalShape().to_representation))

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self._shown(pk))

    @extend_schema(request=shapes.ApproveInput, responses=shapes.ApprovalShape)
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

    @extend_schema(request=shapes.RejectInput, responses=shapes.ApprovalShape)
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
        return shapes.ApprovalShape(_one(run_queries.approvals(id=pk))).data


@extend_schema_view(
    list=extend_schema(parameters=PAGING, responses=listing(shapes.KnowledgeShape, "KnowledgeSource")),
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
    queryset = KnowledgeSource.unfenced.none()
    serializer_class = shapes.KnowledgeDetailShape

    def list(self, request: Request) -> Response:
        rows = KnowledgeSource.objects.defer("content")
        return Response(page(request, rows, shapes.KnowledgeShape().to_representation))

    def retrieve(self, request: Request, pk: UUID) -> Response:
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
        source = learning.add(workspace_id=self.principal.workspace_id, **self.checked(shapes.KnowledgeInput))
        return Response(self._shown(source.id), status=201)

    @extend_schema(request=shapes.KnowledgeChange, responses=shapes.KnowledgeDetailShape)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        changes = self.checked(shapes.KnowledgeChange)
        learning.replace(workspace_id=self.principal.workspace_id, source_id=pk, **changes)
        return Response(self._shown(pk))

    def destroy(self, request: Request, pk: UUID) -> Response:
        learning.remove(workspace_id=self.principal.workspace_id, source_id=pk)
        return Response(status=204)

    def _shown(self, pk: UUID) -> Any:
        return shapes.KnowledgeDetailShape(_one(KnowledgeSource.objects.filter(id=pk))).data


def _one(rows: Any) -> Any:
    row = rows.first()
    if row is None:
        raise NotFound
    return row


def _choice(request: Request, name: str, allowed: "list[str]") -> str:
    value = str(request.query_params[name])
    if value not in allowed:
        raise Invalid(f"{name} must be one of {', '.join(allowed)}.", pointer=f"/{name}")
    return value


def _uuid(request: Request, name: str) -> UUID:
    try:
        return UUID(request.query_params[name])
    except ValueError:
        raise Invalid(f"{name} must be a UUID.", pointer=f"/{name}") from None

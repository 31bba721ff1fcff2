"""The emergency stop and the workspace's settings over HTTP."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.views import WorkspaceViewSet
from tenancy import settings
from tenancy.api import people_shapes
from tenancy.models import Workspace, WorkspaceControlState
from tenancy.queries import control, workspaces
from tenancy.services import describing, stopping


@extend_schema(tags=["emergency-stop"])
class EmergencyStopView(WorkspaceViewSet):
    """While a workspace is stopped, nothing leaves it: no reply, no step of an agent, no webhook that is not spared."""

    permissions: ClassVar = {"retrieve": "workspace.read", "create": "workspace.stop", "destroy": "workspace.resume"}
    queryset = WorkspaceControlState.unfenced.none()
    serializer_class = people_shapes.StopShape

    @extend_schema(responses=people_shapes.StopShape)
    def retrieve(self, request: Request) -> Response:
        """Whether the workspace is stopped, since when, and why."""
        return Response(self._shown(control.state(self.principal.workspace_id)))

    @extend_schema(
        request=people_shapes.StopInput,
        responses={200: people_shapes.StopShape},
        examples=[OpenApiExample("stop", {"reason": "The agent promises refunds."}, request_only=True)],
    )
    def create(self, request: Request) -> Response:
        """Stop the workspace, at once. Stopping it again changes nothing."""
        fields = self.checked(people_shapes.StopInput)
        return Response(self._shown(stopping.stop(workspace_id=self.principal.workspace_id, **fields)))

    @extend_schema(responses={200: people_shapes.StopShape})
    def destroy(self, request: Request) -> Response:
        """Release the stop. What waited goes on, in a new generation."""
        return Response(self._shown(stopping.release(workspace_id=self.principal.workspace_id)))

    def _shown(self, row: WorkspaceControlState) -> Any:
        return people_shapes.StopShape(row).data


@extend_schema(tags=["workspace"])
class SettingsView(WorkspaceViewSet):
    permissions: ClassVar = {"retrieve": "workspace.read", "partial_update": "workspace.manage"}
    queryset = Workspace.objects.none()
    serializer_class = people_shapes.SettingsShape

    @extend_schema(responses=people_shapes.SettingsShape)
    def retrieve(self, request: Request) -> Response:
        """What the workspace has decided for itself."""
        row = workspaces.current(self.principal.workspace_id)
        return Response(people_shapes.SettingsShape(settings.shown(row.settings)).data)

    @extend_schema(
        request=people_shapes.SettingsChange,
        responses=people_shapes.SettingsShape,
        examples=[OpenApiExample("teams", {"members_see_team_inboxes_only": False}, request_only=True)],
    )
    def partial_update(self, request: Request) -> Response:
        """Change settings, with effect at everybody's next request."""
        changes = self.checked(people_shapes.SettingsChange)
        describing.decide(workspace_id=self.principal.workspace_id, changes=changes)
        return self.retrieve(request)

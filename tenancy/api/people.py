"""Roles and teams over HTTP."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.filters import Changeable
from kernel.api.listings import Listing
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from tenancy.api import examples, people_shapes
from tenancy.api.filters import RoleFilters
from tenancy.models import Role, Team
from tenancy.queries import roles as queries
from tenancy.services import roles, teams


def _asked(name: str, value: dict[str, Any]) -> list[OpenApiExample]:
    """The example of a request."""
    return [OpenApiExample(name, value, request_only=True)]


@extend_schema(tags=["roles"])
@extend_schema_view(
    list=extend_schema(responses=listing(people_shapes.RoleShape, "Role")),
    retrieve=extend_schema(responses=people_shapes.RoleShape),
    create=extend_schema(
        request=people_shapes.RoleCreation,
        responses={201: people_shapes.RoleShape},
        examples=_asked("night shift", {"name": "Night shift", "permissions": examples.ROLE["permissions"]}),
    ),
    partial_update=extend_schema(
        request=people_shapes.RoleChange,
        responses=people_shapes.RoleShape,
        examples=_asked("reads only", {"permissions": ["thread.read"]}),
    ),
)
class RoleViewSet(WorkspaceViewSet):
    """Sets of permissions that members hold. Nobody makes, gives or takes one that grants more than they have."""

    permissions: ClassVar = {
        "list": "role.read",
        "retrieve": "role.read",
        "create": "role.manage",
        "partial_update": "role.manage",
        "destroy": "role.manage",
        "give": "role.manage",
        "take": "role.manage",
    }
    listings: ClassVar = {"list": Listing(filters=RoleFilters, sorts=("created_at", "name", "updated_at"))}
    queryset = Role.unfenced.none()
    serializer_class = people_shapes.RoleShape

    def list(self, request: Request) -> Response:
        """The roles of the workspace, those of the system among them."""
        return self.listed(queries.roles(), people_shapes.RoleShape.show)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One role, and who holds it."""
        return Response(people_shapes.RoleShape.show(queries.role(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Make a role of your own."""
        fields = self.checked(people_shapes.RoleCreation)
        row = roles.create(workspace_id=self.principal.workspace_id, may=self.principal.permissions, **fields)
        return Response(people_shapes.RoleShape.show(row), status=201)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change name, description or permissions, with effect at the next request of everybody who holds it."""
        row = roles.change(
            workspace_id=self.principal.workspace_id,
            role_id=UUID(pk),
            changes=self.checked(people_shapes.RoleChange),
            may=self.principal.permissions,
        )
        return Response(people_shapes.RoleShape.show(row))

    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a role of your own that nobody holds."""
        who = self.principal
        roles.delete(workspace_id=who.workspace_id, role_id=UUID(pk), may=who.permissions)
        return Response(status=204)

    @extend_schema(
        request=people_shapes.RoleHolder,
        responses={201: people_shapes.RoleLinkShape},
        examples=_asked("member", {"membership_id": examples.ROLE_LINK["membership_id"]}),
    )
    @action(detail=True, methods=["post"])
    def give(self, request: Request, pk: str) -> Response:
        """Give the role to a member, who has it at their next request."""
        fields = self.checked(people_shapes.RoleHolder)
        roles.give(workspace_id=self.principal.workspace_id, role_id=UUID(pk), may=self.principal.permissions, **fields)
        return Response(_link(pk, **fields), status=201)

    @extend_schema(
        request=people_shapes.RoleHolder,
        responses={200: people_shapes.RoleLinkShape},
        examples=_asked("member", {"membership_id": examples.ROLE_LINK["membership_id"]}),
    )
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Take the role from a member, who is without it at their next request. The workspace keeps an owner."""
        fields = self.checked(people_shapes.RoleHolder)
        roles.take(workspace_id=self.principal.workspace_id, role_id=UUID(pk), may=self.principal.permissions, **fields)
        return Response(_link(pk, **fields))


def _link(role_id: str, *, membership_id: UUID) -> dict[str, Any]:
    return {"object": "role_link", "role_id": UUID(role_id), "membership_id": membership_id}


@extend_schema(tags=["teams"])
@extend_schema_view(
    list=extend_schema(responses=listing(people_shapes.TeamShape, "Team")),
    retrieve=extend_schema(responses=people_shapes.TeamShape),
    create=extend_schema(
        request=people_shapes.TeamCreation,
        responses={201: people_shapes.TeamShape},
        examples=_asked("returns", {"name": "Returns"}),
    ),
    partial_update=extend_schema(
        request=people_shapes.TeamChange,
        responses=people_shapes.TeamShape,
        examples=_asked("nobody", {"membership_ids": []}),
    ),
)
class TeamViewSet(WorkspaceViewSet):
    """Members and the inboxes that they look after. Where the workspace's settings say so, they see no others."""

    permissions: ClassVar = {
        "list": "member.read",
        "retrieve": "member.read",
        "create": "member.manage",
        "partial_update": "member.manage",
        "destroy": "member.manage",
    }
    listings: ClassVar = {"list": Listing(filters=Changeable, sorts=("created_at", "name", "updated_at"))}
    queryset = Team.unfenced.none()
    serializer_class = people_shapes.TeamShape

    def list(self, request: Request) -> Response:
        """The teams of the workspace."""
        return self.listed(queries.teams(), people_shapes.TeamShape.show)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One team."""
        return Response(people_shapes.TeamShape.show(queries.team(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Make a team."""
        row = teams.create(workspace_id=self.principal.workspace_id, **self.checked(people_shapes.TeamCreation))
        return Response(people_shapes.TeamShape.show(row), status=201)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a team, with effect at the next request of its members."""
        changes = self.checked(people_shapes.TeamChange)
        row = teams.change(workspace_id=self.principal.workspace_id, team_id=UUID(pk), changes=changes)
        return Response(people_shapes.TeamShape.show(row))

    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a team. Its members and inboxes stay."""
        teams.delete(workspace_id=self.principal.workspace_id, team_id=UUID(pk))
        return Response(status=204)

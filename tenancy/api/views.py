"""The workspace of the caller, and the hook by which an account system makes workspaces."""

import hmac
from typing import Any, ClassVar

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api import parameters
from kernel.api.shapes import exemplified
from kernel.api.views import Limited, WorkspaceViewSet
from kernel.context import Actor, acting_as
from kernel.errors import Unauthenticated
from tenancy.models import Workspace
from tenancy.queries import workspaces
from tenancy.services import provisioning

EXAMPLE: dict[str, Any] = {
    "object": "workspace",
    "id": "2b1a0f9e-8d7c-4b6a-9f5e-4d3c2b1a0f14",
    "external_id": "5f0c7a2e-6d0f-4a51-9a3c-0b7d4f1f2a10",
    "ref": "ws_7k2m9q4x",
    "name": "Acme",
    "timezone": "Europe/Berlin",
    "status": "active",
    "metadata": {},
    "custom_metadata": {},
    "created_at": "2026-11-05T09:00:00.120000Z",
    "updated_at": "2026-11-05T09:00:04.310000Z",
    "deleted_at": None,
}


@exemplified(EXAMPLE)
class WorkspaceShape(serializers.Serializer[Any]):
    object = serializers.SerializerMethodField()
    id = serializers.UUIDField()
    external_id = serializers.UUIDField()
    ref = serializers.CharField()
    name = serializers.CharField()
    timezone = serializers.CharField()
    status = serializers.CharField()
    metadata = serializers.DictField()
    custom_metadata = serializers.DictField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    deleted_at = serializers.DateTimeField(allow_null=True)

    def get_object(self, _row: Any) -> str:
        return "workspace"


class ProvisioningInput(serializers.Serializer[Any]):
    external_id = serializers.UUIDField()
    name = serializers.CharField(max_length=200)
    timezone = serializers.CharField(max_length=64, required=False, default="UTC")


@extend_schema(tags=["workspace"])
class WorkspaceView(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"retrieve": "workspace.read"}
    queryset = Workspace.objects.none()
    serializer_class = WorkspaceShape

    def retrieve(self, request: Request) -> Response:
        """The workspace that the token or key belongs to."""
        return Response(WorkspaceShape(workspaces.current(self.principal.workspace_id)).data)


@extend_schema(tags=["workspace"])
class ProvisioningView(Limited):
    """Called by the account system, with PROVISIONING_TOKEN as its bearer token."""

    authentication_classes = ()

    @extend_schema(
        auth=[{"provisioning": []}],  # type: ignore[list-item] # a requirement, as OpenAPI writes it
        request=ProvisioningInput,
        responses={200: WorkspaceShape, 201: WorkspaceShape},
        examples=[
            OpenApiExample(
                "account", {"external_id": "5f0c7a2e-6d0f-4a51-9a3c-0b7d4f1f2a10", "name": "Acme"}, request_only=True
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """Make the workspace of an account, or return the one that it has. Idempotent on `external_id`."""
        expected = settings.PROVISIONING_TOKEN
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not expected or not hmac.compare_digest(given.encode(), expected.encode()):
            raise Unauthenticated("The provisioning token is not valid.")
        # After the token: strangers must not use up what the account system may ask.
        self.counted("provisioning")
        parameters.check(request, ())
        shape = ProvisioningInput(data=request.data)
        shape.is_valid(raise_exception=True)
        with acting_as(Actor(kind="account_hook", id="provisioning", label="account system")):
            workspace, created = provisioning.provision(**shape.validated_data)
        # Read again: what the database has set (its times) is not on a row that was just made.
        shown = WorkspaceShape(workspaces.current(workspace.id)).data
        return Response(shown, status=201 if created else 200)

"""The workspace of the caller, and the hook by which an account system makes workspaces."""

import hmac

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kernel.access import principal_of
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import Shared
from kernel.context import Actor, acting_as
from tenancy.queries import workspaces
from tenancy.services import describing, provisioning


class WorkspaceShape(Shared):
    kind_name = "workspace"
    external_id = serializers.UUIDField()
    ref = serializers.CharField()
    name = serializers.CharField()
    timezone = serializers.CharField()
    status = serializers.CharField()


class WorkspaceChange(Input):
    name = Text(required=False, max_length=200)
    timezone = Text(required=False, max_length=64, help_text="An IANA name such as Europe/Berlin.")
    custom_metadata = FreeForm(required=False)


class ProvisioningInput(Input):
    external_id = serializers.UUIDField()
    name = Text(max_length=200)
    timezone = Text(max_length=64, required=False, default="UTC")
    custom_metadata = FreeForm(required=False, default=dict)


@extend_schema(tags=["workspace"])
class WorkspaceView(APIView):
    http_method_names = ["get", "head", "patch"]

    @extend_schema(responses=WorkspaceShape)
    def get(self, request: Request) -> Response:
        """The workspace that the token or key belongs to."""
        principal = principal_of(request)
        principal.require("workspace.read")
        return Response(WorkspaceShape(workspaces.current(principal.workspace_id)).data)

    @extend_schema(request=WorkspaceChange, responses=WorkspaceShape)
    def patch(self, request: Request) -> Response:
        """Change what the workspace says of itself. Its other fields mirror the account that it belongs to."""
        principal = principal_of(request)
        principal.require("workspace.manage")
        shape = WorkspaceChange(data=request.data)
        shape.is_valid(raise_exception=True)
        with acting_as(principal.actor):
            workspace = describing.change(workspace_id=principal.workspace_id, changes=shape.validated_data)
        return Response(WorkspaceShape(workspace).data)


@extend_schema(tags=["workspace"])
class ProvisioningView(APIView):
    """Called by the account system, with PROVISIONING_TOKEN as its bearer token."""

    authentication_classes = ()

    @extend_schema(
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
            raise AuthenticationFailed("The provisioning token is not valid.")
        shape = ProvisioningInput(data=request.data)
        shape.is_valid(raise_exception=True)
        with acting_as(Actor(kind="account_hook", id="provisioning", label="account system")):
            workspace, created = provisioning.provision(**shape.validated_data)
        return Response(WorkspaceShape(workspace).data, status=201 if created else 200)

"""The workspace of the caller, and the hook by which an account system makes workspaces."""

import hmac
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.access import Principal
from kernel.api import parameters
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import Shared, exemplified
from kernel.api.views import Limited, WorkspaceViewSet, once
from kernel.context import ESTATE, Actor, acting_as
from kernel.errors import Unauthenticated
from tenancy.models import Workspace
from tenancy.queries import workspaces
from tenancy.services import describing, provisioning

# The account system makes workspaces, so it is of none but the estate's own.
_HOOK = Principal(ESTATE, Actor(kind="account_hook", id="provisioning", label="account system"))

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
class WorkspaceView(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"retrieve": "workspace.read", "partial_update": "workspace.manage"}
    queryset = Workspace.objects.none()
    serializer_class = WorkspaceShape

    def retrieve(self, request: Request) -> Response:
        """The workspace that the token or key belongs to."""
        return Response(WorkspaceShape.show(workspaces.current(self.principal.workspace_id)))

    @extend_schema(
        request=WorkspaceChange,
        responses=WorkspaceShape,
        examples=[OpenApiExample("zone", {"timezone": "Africa/Nairobi"}, request_only=True)],
    )
    def partial_update(self, request: Request) -> Response:
        """Change what the workspace says of itself. Its other fields mirror the account that it belongs to."""
        workspace = describing.change(workspace_id=self.principal.workspace_id, changes=self.checked(WorkspaceChange))
        return Response(WorkspaceShape.show(workspace))


@extend_schema(tags=["workspace"])
class ProvisioningView(Limited):
    """Called by the account system, with PROVISIONING_TOKEN as its bearer token."""

    authentication_classes = ()
    takes_idempotency_key = True

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
        with acting_as(_HOOK.actor):
            make = partial(self._provision, shape.validated_data)
            key = request.headers.get("Idempotency-Key")
            return make() if key is None else once(_HOOK, key, request, make)

    def _provision(self, fields: dict[str, Any]) -> Response:
        workspace, created = provisioning.provision(**fields)
        # Read again: what the database has set (its times) is not on a row that was just made.
        shown = WorkspaceShape.show(workspaces.current(workspace.id))
        return Response(shown, status=201 if created else 200)

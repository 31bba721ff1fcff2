"""Connections over HTTP: accounts that inboxes send through. Secrets go in and never come out."""

from typing import Any, ClassVar
from uuid import UUID

from django_filters import CharFilter
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api import examples
from inbox.models import Connection
from inbox.queries import connections
from inbox.services import connecting, inboxes
from inbox.types import ConnectionState, Provider
from kernel.api.filters import Changeable, choice
from kernel.api.inputs import Input, Text
from kernel.api.listings import Listing
from kernel.api.shapes import Resource, exemplified, listing
from kernel.api.views import WorkspaceViewSet

_CONFIGURATION = "smtp: host, port, user, tls (starttls or implicit). ses: region, access_key_id, configuration_set (may be left out)."
_SECRET = "The password of the user, or the secret of the access key. It is never shown."  # noqa: S105 - help text
_EXPIRES = "When the secret ends, if it does: the connection is expired from then on."


class ConnectionFilters(Changeable):
    provider = choice(Provider, "provider")
    state = choice(ConnectionState, "state")
    external_account_id = CharFilter("external_account_id", max_length=400)


class ConnectionInput(Input):
    provider = serializers.ChoiceField(choices=Provider.choices)
    name = Text(required=False, allow_blank=True, default="", max_length=200)
    configuration = serializers.DictField(help_text=_CONFIGURATION)
    secret = Text(required=False, write_only=True, max_length=4096, help_text=_SECRET)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, help_text=_EXPIRES)


class ConnectionChange(Input):
    name = Text(required=False, max_length=200)
    configuration = serializers.DictField(required=False, help_text=f"Replaces the whole. {_CONFIGURATION}")


class SecretInput(Input):
    secret = Text(write_only=True, max_length=4096, help_text=_SECRET)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, help_text=_EXPIRES)


class InboxConnectionInput(Input):
    connection_id = serializers.UUIDField(allow_null=True, help_text="null: what the installation is set up with.")


@exemplified(examples.CONNECTION)
class ConnectionShape(Resource):
    kind_name = "connection"
    provider = serializers.ChoiceField(choices=Provider.choices)
    name = serializers.CharField()
    external_account_id = serializers.CharField(help_text="The account's own name at its provider.")
    configuration = serializers.DictField(help_text=_CONFIGURATION)
    state = serializers.SerializerMethodField()
    has_secret = serializers.BooleanField(help_text="Whether a secret is there that is good now.")
    capabilities = serializers.DictField(help_text="What the provider said when it was last tried.")
    last_health_at = serializers.DateTimeField(allow_null=True)
    error_code = serializers.CharField(help_text="sign_in_refused, unreachable, expired, fault, or empty.")
    error_detail = serializers.CharField()

    @extend_schema_field(serializers.ChoiceField(choices=ConnectionState.choices))
    def get_state(self, row: Connection) -> str:
        return connections.standing(row).value


@exemplified(examples.INBOX_CONNECTION)
class InboxConnectionShape(serializers.Serializer[Any]):
    """What an inbox sends through."""

    object = serializers.CharField()
    inbox_id = serializers.UUIDField()
    connection_id = serializers.UUIDField(allow_null=True)


@extend_schema_view(list=extend_schema(responses=listing(ConnectionShape, "Connection")))
@extend_schema(tags=["connections"])
class ConnectionViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "connection.read",
        "retrieve": "connection.read",
        "create": "connection.manage",
        "partial_update": "connection.manage",
        "credentials": "connection.manage",
        "test": "connection.manage",
        "disconnect": "connection.manage",
    }
    listings: ClassVar = {"list": Listing(filters=ConnectionFilters, sorts=("created_at", "name", "updated_at"))}
    queryset = Connection.unfenced.none()
    serializer_class = ConnectionShape
    refusals: ClassVar[dict[str, str]] = {
        "DELETE": "Connections are disconnected rather than deleted: POST to …/disconnect destroys the secret."
    }

    def list(self, request: Request) -> Response:
        """The connected accounts of the workspace, disconnected ones among them."""
        return self.listed(connections.shown(), ConnectionShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One connection and how it stands."""
        return Response(ConnectionShape.show(connections.get(UUID(str(pk)))))

    @extend_schema(
        request=ConnectionInput,
        responses={201: ConnectionShape},
        examples=[
            OpenApiExample(
                "smtp",
                {
                    "provider": "smtp",
                    "name": "Support mail",
                    "configuration": {"host": "smtp.example.com", "port": 587, "user": "support@example.com"},
                },
                request_only=True,
            )
        ],
    )
    def create(self, request: Request) -> Response:
        """Connect an account. With a secret it is tried at once; without one it is unconfigured."""
        row = connecting.connect(workspace_id=self.principal.workspace_id, **self.checked(ConnectionInput))
        return Response(ConnectionShape.show(row), status=201)

    @extend_schema(
        request=ConnectionChange,
        responses=ConnectionShape,
        examples=[OpenApiExample("rename", {"name": "Support"}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change name or configuration. With another configuration it has to be tried anew."""
        changes = self.checked(ConnectionChange)
        row = connecting.change(workspace_id=self.principal.workspace_id, connection_id=pk, changes=changes)
        return Response(ConnectionShape.show(row))

    @extend_schema(
        request=SecretInput,
        responses=ConnectionShape,
        examples=[OpenApiExample("password", {"secret": "not-a-real-password"}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def credentials(self, request: Request, pk: UUID) -> Response:
        """Give the connection a new secret in place of the one it has. It is tried at once."""
        fields = self.checked(SecretInput)
        row = connecting.authorize(workspace_id=self.principal.workspace_id, connection_id=pk, **fields)
        return Response(ConnectionShape.show(row))

    @extend_schema(request=None, responses={202: ConnectionShape})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: UUID) -> Response:
        """Try the connection soon: sign in and send nothing. `last_health_at` and `state` then say how it went."""
        row = connecting.ask_for_check(workspace_id=self.principal.workspace_id, connection_id=pk)
        return Response(ConnectionShape.show(row), status=202)

    @extend_schema(request=None, responses=ConnectionShape)
    @action(detail=True, methods=["post"])
    def disconnect(self, request: Request, pk: UUID) -> Response:
        """Send nothing through it any more and destroy its secret."""
        row = connecting.disconnect(workspace_id=self.principal.workspace_id, connection_id=pk)
        return Response(ConnectionShape.show(row))


def use(*, workspace_id: UUID, inbox_id: UUID, connection_id: UUID | None) -> dict[str, Any]:
    """Have an inbox send through a connection, as a body."""
    row = inboxes.change(workspace_id=workspace_id, inbox_id=inbox_id, changes={"connection_id": connection_id})
    return dict(
        InboxConnectionShape(
            {"object": "inbox_connection", "inbox_id": row.id, "connection_id": row.connection_id}
        ).data
    )

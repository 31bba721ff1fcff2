"""Automatic answers that were stopped, over HTTP."""

from typing import ClassVar
from uuid import UUID

from django_filters import UUIDFilter
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api import examples
from inbox.models import CircuitBreaker
from inbox.services import breaking
from inbox.types import BreakerScope
from kernel.api.filters import Filters, choice
from kernel.api.listings import Listing
from kernel.api.lookup import one
from kernel.api.shapes import Resource, exemplified, listing
from kernel.api.views import WorkspaceViewSet


@exemplified(examples.CIRCUIT_BREAKER)
class CircuitBreakerShape(Resource):
    kind_name = "circuit_breaker"
    inbox_id = serializers.UUIDField()
    scope = serializers.ChoiceField(choices=BreakerScope.choices)
    key = serializers.CharField(help_text="The thread and sender, the sender, the inbox or the workspace.")
    opened_at = serializers.DateTimeField()
    open_until = serializers.DateTimeField()
    held = serializers.IntegerField(help_text="How many automatic answers it has held back.")
    last_held_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    closed_by = serializers.CharField()


class CircuitBreakerFilters(Filters):
    scope = choice(BreakerScope, "scope")
    inbox_id = UUIDFilter("inbox_id")


@extend_schema_view(list=extend_schema(responses=listing(CircuitBreakerShape, "CircuitBreaker")))
@extend_schema(tags=["circuit-breakers"])
class CircuitBreakerViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"list": "inbox.read", "retrieve": "inbox.read", "close": "inbox.manage"}
    listings: ClassVar = {"list": Listing(filters=CircuitBreakerFilters)}
    expands: ClassVar = {"inbox": "inbox_id"}
    queryset = CircuitBreaker.unfenced.none()
    serializer_class = CircuitBreakerShape

    def list(self, request: Request) -> Response:
        """Where automatic answers were stopped, newest first."""
        return self.listed(CircuitBreaker.objects.all(), CircuitBreakerShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One of them."""
        return Response(CircuitBreakerShape.show(one(CircuitBreaker.objects.filter(id=pk))))

    @extend_schema(request=None, responses=CircuitBreakerShape)
    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: UUID) -> Response:
        """Allow automatic answers again; the cap counts anew."""
        breaker = breaking.close(workspace_id=self.principal.workspace_id, breaker_id=UUID(str(pk)))
        return Response(CircuitBreakerShape.show(breaker))

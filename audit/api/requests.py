"""The log of requests to the API, for those who make them."""

from typing import Any, ClassVar

from django_filters import CharFilter, NumberFilter
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import queries
from audit.models import ApiRequest
from kernel.api.filters import Filters
from kernel.api.listings import Listing
from kernel.api.shapes import exemplified, listing
from kernel.api.views import WorkspaceViewSet

EXAMPLE = {
    "object": "api_request",
    "id": "5c2f7c54-7a0e-4d39-9d1e-7d7c0e2f5d11",
    "created_at": "2026-11-05T09:00:00.120000Z",
    "request_id": "4f0c2a3b9d6e4f1a8b7c6d5e4f3a2b1c",
    "method": "POST",
    "path": "/api/v1/emails",
    "status": 422,
    "code": "invalid",
    "caller": "Order system",
    "duration_ms": 14,
}


class RequestFilters(Filters):
    method = CharFilter("method", max_length=10, help_text="GET, POST, PATCH or DELETE.")
    path = CharFilter("path", max_length=200, help_text="The route, such as /api/v1/emails/{id}.")
    status = NumberFilter("status", min_value=100, max_value=599, decimal_places=0)
    status__gte = NumberFilter(
        "status", "gte", min_value=100, max_value=599, decimal_places=0, help_text="400: refusals."
    )
    code = CharFilter("code", max_length=60, help_text="The code of a problem.")
    request_id = CharFilter("request_id", max_length=64, help_text="The X-Request-Id of an answer.")


@exemplified(EXAMPLE)
class RequestShape(serializers.Serializer[Any]):
    """A request and its answer in short; bodies, queries and secrets are not kept."""

    object = serializers.SerializerMethodField()
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField(help_text="When it came in.")
    request_id = serializers.CharField()
    method = serializers.CharField()
    path = serializers.CharField(help_text="The route, with names in place of ids.")
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="The code of the problem, or empty.")
    caller = serializers.CharField(help_text="The name of the key or token.")
    duration_ms = serializers.IntegerField()

    def get_object(self, _row: Any) -> str:
        return "api_request"


@extend_schema_view(list=extend_schema(responses=listing(RequestShape, "ApiRequest")))
@extend_schema(tags=["request-log"])
class RequestLogViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"list": "request.read"}
    listings: ClassVar = {"list": Listing(filters=RequestFilters)}
    queryset = ApiRequest.objects.none()
    serializer_class = RequestShape

    def list(self, request: Request) -> Response:
        """The requests of this workspace and how they were answered, newest first. They appear after about a second."""
        return self.listed(queries.requests(self.principal.workspace_id), RequestShape().to_representation)

"""Webhooks over HTTP: subscriptions that integrators manage, and what became of their deliveries (read-only)."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel import clock
from kernel.api.listings import Listing
from kernel.api.shapes import listing as framed
from kernel.api.views import WorkspaceViewSet
from webhooks.api import filters, rendering, shapes
from webhooks.models import SystemEvent, Webhook, WebhookDelivery
from webhooks.queries import catalogue, listing, statistics, webhooks
from webhooks.services import replaying, subscribing, testing


@extend_schema(tags=["webhooks"])
@extend_schema_view(
    list=extend_schema(responses=framed(shapes.WebhookShape, "Webhook")),
    retrieve=extend_schema(responses=shapes.WebhookShape),
    create=extend_schema(
        request=shapes.WebhookCreation,
        responses={201: shapes.WebhookWithSecret},
        examples=[
            OpenApiExample(
                "mail", {"url": "https://example.com/hook", "slugs": ["email.*"], "label": "CRM"}, request_only=True
            )
        ],
    ),
    partial_update=extend_schema(
        request=shapes.WebhookChange,
        responses=shapes.WebhookShape,
        examples=[OpenApiExample("slower", {"rate_per_second": 5, "ordered": True}, request_only=True)],
    ),
    destroy=extend_schema(responses={204: None}),
)
class WebhookViewSet(WorkspaceViewSet):
    """Subscriptions of endpoints to events."""

    listings: ClassVar = {"list": Listing(filters=filters.WebhookFilters, sorts=("created_at", "label", "updated_at"))}
    queries: ClassVar = {"statistics": shapes.Span}
    queryset = Webhook.unfenced.none()
    serializer_class = shapes.WebhookShape
    permissions: ClassVar = {
        "list": "webhook.read",
        "retrieve": "webhook.read",
        "create": "webhook.manage",
        "partial_update": "webhook.manage",
        "destroy": "webhook.manage",
        "rotate_secret": "webhook.manage",
        "enable": "webhook.manage",
        "disable": "webhook.manage",
        "test": "webhook.manage",
        "replay": "webhook.manage",
        "statistics": "webhook.read",
    }

    def list(self, request: Request) -> Response:
        """The webhooks of the workspace, newest first."""
        return self.listed(listing.webhooks(), rendering.webhook)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One webhook."""
        return Response(rendering.webhook(webhooks.get(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Subscribe an endpoint. The answer holds its signing secret, this once."""
        fields = self.checked(shapes.WebhookCreation)
        row, secret = subscribing.create(workspace_id=self.principal.workspace_id, **fields)
        return Response(rendering.webhook(row) | {"secret": secret}, status=201)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a webhook; what waits to be sent follows."""
        changes = self.checked(shapes.WebhookChange)
        row = subscribing.update(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk), changes=changes)
        return Response(rendering.webhook(row))

    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a webhook and cancel what waits for it."""
        subscribing.delete(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk))
        return Response(status=204)

    @extend_schema(request=None, responses=shapes.WebhookWithSecret)
    @action(detail=True, methods=["post"], url_path="rotate-secret")
    def rotate_secret(self, request: Request, pk: str) -> Response:
        """Make a new secret. Until `previous_secret_until` both sign."""
        row, secret = subscribing.rotate_secret(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk))
        return Response(rendering.webhook(row) | {"secret": secret})

    @extend_schema(
        request=shapes.Enabling,
        responses=shapes.EnabledShape,
        examples=[OpenApiExample("without the gap", {"replay_gap": False}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def enable(self, request: Request, pk: str) -> Response:
        """Call the endpoint again, from what it missed on."""
        fields = self.checked(shapes.Enabling)
        row, replayed = subscribing.enable(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk), **fields)
        return Response(rendering.webhook(row) | {"replayed": replayed})

    @extend_schema(request=None, responses=shapes.WebhookShape)
    @action(detail=True, methods=["post"])
    def disable(self, request: Request, pk: str) -> Response:
        """Stop calling the endpoint. What happens meanwhile is kept for enabling."""
        row = subscribing.disable(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk))
        return Response(rendering.webhook(row))

    @extend_schema(request=None, responses={202: shapes.DeliveryShape})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send a `webhook.test` event to this endpoint only, once; look at the delivery for how it went."""
        delivery = testing.send_test(workspace_id=self.principal.workspace_id, webhook_id=UUID(pk))
        return Response(rendering.delivery(listing.delivery(delivery.id)), status=202)

    @extend_schema(
        request=shapes.Replay,
        responses={202: shapes.ReplayShape},
        examples=[
            OpenApiExample(
                "a range",
                {"since": "2026-11-05T09:00:00Z", "until": "2026-11-05T10:00:00Z", "failed_only": True},
                request_only=True,
            )
        ],
    )
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, pk: str) -> Response:
        """Send the event of one delivery, or the events of a range of time, once more."""
        fields = self.checked(shapes.Replay)
        target: dict[str, Any] = {"workspace_id": self.principal.workspace_id, "webhook_id": UUID(pk)}
        if "delivery_id" in fields:
            replaying.replay(**target, delivery_id=fields["delivery_id"])
            count = 1
        else:
            fields.setdefault("until", clock.now())
            count = replaying.replay_range(**target, **fields)
        return Response({"object": "webhook_replay", "webhook_id": pk, "deliveries": count}, status=202)

    @extend_schema(parameters=[shapes.Span], responses=shapes.StatisticsShape)
    @action(detail=True, methods=["get"])
    def statistics(self, request: Request, pk: str) -> Response:
        """What became of the deliveries of a span of time, and how fast the endpoint answers; the last day by default."""
        row = webhooks.get(UUID(pk))
        found = statistics.of(workspace_id=row.workspace_id, webhook_id=row.id, **self.asked())
        return Response({"object": "webhook_statistics", "webhook_id": row.id, **found})


@extend_schema(tags=["webhook-deliveries"])
@extend_schema_view(
    list=extend_schema(responses=framed(shapes.DeliveryShape, "WebhookDelivery")),
    retrieve=extend_schema(responses=shapes.DeliveryDetail),
)
class WebhookDeliveryViewSet(WorkspaceViewSet):
    """Deliveries are made by the system; nobody writes them."""

    listings: ClassVar = {"list": Listing(filters=filters.DeliveryFilters)}
    expands: ClassVar = {"webhook": "webhook_id", "system_event": "system_event_id"}
    queryset = WebhookDelivery.unfenced.none()
    serializer_class = shapes.DeliveryShape
    permissions: ClassVar = {"list": "webhook.read", "retrieve": "webhook.read"}

    def list(self, request: Request) -> Response:
        """Deliveries, newest first."""
        return self.listed(listing.deliveries(), rendering.delivery)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One delivery with its attempts."""
        return Response(rendering.delivery_detail(listing.delivery(UUID(pk))))


@extend_schema(tags=["system-events"])
@extend_schema_view(
    list=extend_schema(responses=framed(shapes.EventShape, "SystemEvent")),
    retrieve=extend_schema(responses=shapes.EventShape),
)
class SystemEventViewSet(WorkspaceViewSet):
    """Public facts, for ever as they were."""

    listings: ClassVar = {"list": Listing(filters=filters.EventFilters)}
    queryset = SystemEvent.unfenced.none()
    serializer_class = shapes.EventShape
    permissions: ClassVar = {"list": "event.read", "retrieve": "event.read"}

    def list(self, request: Request) -> Response:
        """Events, newest first."""
        return self.listed(listing.system_events(), rendering.system_event)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One event."""
        return Response(rendering.system_event(listing.system_event(UUID(pk))))


@extend_schema(tags=["event-types"])
@extend_schema_view(list=extend_schema(responses=framed(shapes.EventTypeShape, "EventType")))
class EventTypeViewSet(WorkspaceViewSet):
    """What may be subscribed to."""

    serializer_class = shapes.EventTypeShape
    permissions: ClassVar = {"list": "event.read"}

    def list(self, request: Request) -> Response:
        """Every type of event, with the JSON Schema of what then arrives."""
        return Response({"data": catalogue.describe(), "next": None, "previous": None})

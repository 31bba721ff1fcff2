"""The resource `/api/v1/webhook-deliveries`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Delivery, DeliveryDetail
from autonomous_inbox.wire import Call


class AsyncWebhookDeliveriesResource:
    """`client.webhook_deliveries`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        expand: Sequence[Literal["system_event", "webhook"]] | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        status: Literal["pending", "delivered", "failed", "cancelled"] | None = None,
        system_event_id: str | None = None,
        webhook_id: str | None = None,
    ) -> AsyncPages[Delivery]:
        """Deliveries, newest first. Needs the permission `webhook.read`. `GET /api/v1/webhook-deliveries`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/webhook-deliveries",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "limit": limit,
                    "sort": sort,
                    "status": status,
                    "system_event_id": system_event_id,
                    "webhook_id": webhook_id,
                },
            ),
        )

    async def get(
        self, webhook_delivery_id: str, *, expand: Sequence[Literal["system_event", "webhook"]] | None = None
    ) -> DeliveryDetail:
        """One delivery with its attempts. Needs the permission `webhook.read`. `GET /api/v1/webhook-deliveries/{webhook_delivery_id}`"""
        return cast(
            "DeliveryDetail",
            await self._client.send(
                Call(
                    "GET", f"/api/v1/webhook-deliveries/{quote(webhook_delivery_id, safe='')}", query={"expand": expand}
                )
            ),
        )

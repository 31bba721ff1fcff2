"""The resource `/api/v1/webhook-deliveries`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Pages, Sender
from autonomous_inbox.types import Delivery, DeliveryDetail
from autonomous_inbox.wire import Call


class WebhookDeliveriesResource:
    """`client.webhook_deliveries`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status: Literal["pending", "delivering", "delivered", "failed", "cancelled"] | None = None,
        system_event: str | None = None,
        webhook: str | None = None,
    ) -> Pages[Delivery]:
        """Deliveries, newest first. `GET /api/v1/webhook-deliveries`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/webhook-deliveries",
                query={
                    "cursor": cursor,
                    "limit": limit,
                    "status": status,
                    "system_event": system_event,
                    "webhook": webhook,
                },
            ),
        )

    def get(self, webhook_delivery_id: str) -> DeliveryDetail:
        """One delivery with its attempts. `GET /api/v1/webhook-deliveries/{webhook_delivery_id}`"""
        return cast(
            "DeliveryDetail",
            self._client.send(Call("GET", f"/api/v1/webhook-deliveries/{quote(webhook_delivery_id, safe='')}")),
        )


class AsyncWebhookDeliveriesResource:
    """`client.webhook_deliveries`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status: Literal["pending", "delivering", "delivered", "failed", "cancelled"] | None = None,
        system_event: str | None = None,
        webhook: str | None = None,
    ) -> AsyncPages[Delivery]:
        """Deliveries, newest first. `GET /api/v1/webhook-deliveries`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/webhook-deliveries",
                query={
                    "cursor": cursor,
                    "limit": limit,
                    "status": status,
                    "system_event": system_event,
                    "webhook": webhook,
                },
            ),
        )

    async def get(self, webhook_delivery_id: str) -> DeliveryDetail:
        """One delivery with its attempts. `GET /api/v1/webhook-deliveries/{webhook_delivery_id}`"""
        return cast(
            "DeliveryDetail",
            await self._client.send(Call("GET", f"/api/v1/webhook-deliveries/{quote(webhook_delivery_id, safe='')}")),
        )

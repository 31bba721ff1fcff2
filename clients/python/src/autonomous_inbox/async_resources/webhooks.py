"""The resource `/api/v1/webhooks`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Change
from autonomous_inbox.types import Delivery, Enabled, Replay, Statistics, Webhook, WebhookWithSecret
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncWebhooksResource:
    """`client.webhooks`."""

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
        label: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-label", "-updated_at", "created_at", "label", "updated_at"] | None = None,
        state: Literal["active", "disabled"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[Webhook]:
        """The webhooks of the workspace, newest first. Needs the permission `webhook.read`. `GET /api/v1/webhooks`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/webhooks",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "label": label,
                    "limit": limit,
                    "sort": sort,
                    "state": state,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    async def create(
        self,
        *,
        url: str,
        slugs: Sequence[str],
        label: str | Unset = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        ordered: bool | Unset = UNSET,
        rate_per_second: int | Unset | None = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> WebhookWithSecret:
        """Subscribe an endpoint. The answer holds its signing secret, this once. `POST /api/v1/webhooks`"""
        return cast(
            "WebhookWithSecret",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/webhooks",
                    body=given(
                        url=url,
                        slugs=slugs,
                        label=label,
                        headers=headers,
                        ordered=ordered,
                        rate_per_second=rate_per_second,
                        custom_metadata=custom_metadata,
                    ),
                    key=idempotency_key,
                )
            ),
        )

    async def get(self, webhook_id: str) -> Webhook:
        """One webhook. Needs the permission `webhook.read`. `GET /api/v1/webhooks/{webhook_id}`"""
        return cast("Webhook", await self._client.send(Call("GET", f"/api/v1/webhooks/{quote(webhook_id, safe='')}")))

    async def update(
        self,
        webhook_id: str,
        *,
        label: str | Unset = UNSET,
        url: str | Unset = UNSET,
        slugs: Sequence[str] | Unset = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        ordered: bool | Unset = UNSET,
        rate_per_second: int | Unset | None = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        if_match: str | None = None,
    ) -> Webhook:
        """Change a webhook; what waits to be sent follows. Needs the permission `webhook.manage`. `PATCH /api/v1/webhooks/{webhook_id}`"""
        return cast(
            "Webhook",
            await self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/webhooks/{quote(webhook_id, safe='')}",
                    body=given(
                        label=label,
                        url=url,
                        slugs=slugs,
                        headers=headers,
                        ordered=ordered,
                        rate_per_second=rate_per_second,
                        custom_metadata=custom_metadata,
                    ),
                    if_match=if_match,
                )
            ),
        )

    async def delete(self, webhook_id: str, *, if_match: str | None = None) -> None:
        """Delete a webhook and cancel what waits for it. Needs the permission `webhook.manage`. `DELETE /api/v1/webhooks/{webhook_id}`"""
        await self._client.send(Call("DELETE", f"/api/v1/webhooks/{quote(webhook_id, safe='')}", if_match=if_match))

    async def disable(self, webhook_id: str, *, idempotency_key: str | None = None) -> Webhook:
        """Stop calling the endpoint. What happens meanwhile is kept for enabling. `POST /api/v1/webhooks/{webhook_id}/disable`"""
        return cast(
            "Webhook",
            await self._client.send(
                Call("POST", f"/api/v1/webhooks/{quote(webhook_id, safe='')}/disable", key=idempotency_key)
            ),
        )

    async def enable(
        self, webhook_id: str, *, replay_gap: bool | Unset = UNSET, idempotency_key: str | None = None
    ) -> Enabled:
        """Call the endpoint again, from what it missed on. Needs the permission `webhook.manage`. `POST /api/v1/webhooks/{webhook_id}/enable`"""
        return cast(
            "Enabled",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/webhooks/{quote(webhook_id, safe='')}/enable",
                    body=given(replay_gap=replay_gap),
                    key=idempotency_key,
                )
            ),
        )

    async def replay(
        self,
        webhook_id: str,
        *,
        delivery_id: str | Unset = UNSET,
        since: str | Unset = UNSET,
        until: str | Unset = UNSET,
        failed_only: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Replay:
        """Send the event of one delivery, or the events of a range of time, once more. Needs the permission `webhook.manage`. `POST /api/v1/webhooks/{webhook_id}/replay`"""
        return cast(
            "Replay",
            await self._client.send(
                Call(
                    "POST",
                    f"/api/v1/webhooks/{quote(webhook_id, safe='')}/replay",
                    body=given(delivery_id=delivery_id, since=since, until=until, failed_only=failed_only),
                    key=idempotency_key,
                )
            ),
        )

    async def rotate_secret(self, webhook_id: str, *, idempotency_key: str | None = None) -> WebhookWithSecret:
        """Make a new secret. Until `previous_secret_until` both sign. `POST /api/v1/webhooks/{webhook_id}/rotate-secret`"""
        return cast(
            "WebhookWithSecret",
            await self._client.send(
                Call("POST", f"/api/v1/webhooks/{quote(webhook_id, safe='')}/rotate-secret", key=idempotency_key)
            ),
        )

    async def statistics(self, webhook_id: str, *, since: str | None = None, until: str | None = None) -> Statistics:
        """What became of the deliveries of a span of time, and how fast the endpoint answers; the last day by default. Needs the permission `webhook.read`. `GET /api/v1/webhooks/{webhook_id}/statistics`"""
        return cast(
            "Statistics",
            await self._client.send(
                Call(
                    "GET",
                    f"/api/v1/webhooks/{quote(webhook_id, safe='')}/statistics",
                    query={"since": since, "until": until},
                )
            ),
        )

    async def test(self, webhook_id: str, *, idempotency_key: str | None = None) -> Delivery:
        """Send a `webhook.test` event to this endpoint only, once; look at the delivery for how it went. Needs the permission `webhook.manage`. `POST /api/v1/webhooks/{webhook_id}/test`"""
        return cast(
            "Delivery",
            await self._client.send(
                Call("POST", f"/api/v1/webhooks/{quote(webhook_id, safe='')}/test", key=idempotency_key)
            ),
        )

    async def get_versioned(self, webhook_id: str) -> Versioned[Webhook]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(Call("GET", f"/api/v1/webhooks/{quote(webhook_id, safe='')}"))

    async def edit(self, webhook_id: str, change: Change[Webhook], *, tries: int = 5) -> Webhook:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/webhooks/{quote(webhook_id, safe='')}"),
            Call("PATCH", f"/api/v1/webhooks/{quote(webhook_id, safe='')}"),
        )
        return cast("Webhook", await self._client.edit(read, write, change, tries=tries))

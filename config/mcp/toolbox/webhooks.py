"""Managing webhooks, and seeing what became of their deliveries."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from config.mcp import shapes
from config.mcp.door import Api
from config.mcp.registry import Effect, tool
from config.mcp.toolbox.arguments import Arguments, Key, Nothing, OneWebhook, Paged
from webhooks.types import DeliveryStatus

_SLUGS = "Which events: slugs, families such as `email.*`, or `*`. list_event_types names them."


@tool(permission="webhook.read", effect=Effect.READ, result=shapes.Webhooks)
def list_webhooks(api: Api, given: Paged) -> Any:
    """The endpoints that are told of events, newest first, and how each is doing."""
    return api.get("webhooks", **given.model_dump())


@tool(permission="webhook.read", effect=Effect.READ, result=shapes.Webhook)
def get_webhook(api: Api, given: OneWebhook) -> Any:
    """One webhook. Its secret is never shown again."""
    return api.get("webhooks", given.webhook_id)


@tool(permission="event.read", effect=Effect.READ, result=shapes.EventTypes)
def list_event_types(api: Api, given: Nothing) -> Any:
    """The events that a webhook can be told of."""
    return api.get("event-types")


class ListDeliveries(Paged):
    webhook_id: UUID | None = None
    status: DeliveryStatus | None = None


@tool(permission="webhook.read", effect=Effect.READ, result=shapes.Deliveries)
def list_webhook_deliveries(api: Api, given: ListDeliveries) -> Any:
    """Deliveries to webhooks, newest first: delivered, waiting for the next attempt, or failed and why."""
    return api.get("webhook-deliveries", **given.model_dump())


class Settings(Arguments):
    label: str | None = Field(default=None, max_length=200, description="For people.")
    ordered: bool | None = Field(default=None, description="One delivery after the other, in the order of the events.")
    rate_per_second: int | None = Field(
        default=None, ge=1, le=10_000, description="At most so many deliveries a second."
    )
    custom_metadata: dict[str, Any] | None = Field(default=None, description="Yours; never looked into.")


class CreateWebhook(Settings):
    url: str = Field(max_length=2_000, description="A public https address.")
    slugs: list[str] = Field(min_length=1, max_length=100, description=_SLUGS)
    idempotency_key: Key = None


@tool(permission="webhook.manage", effect=Effect.ADD, result=shapes.WebhookWithSecret)
def create_webhook(api: Api, given: CreateWebhook) -> Any:
    """Tell an endpoint of events. The answer holds the signing secret, this once."""
    body = given.model_dump(mode="json", exclude_unset=True, exclude={"idempotency_key"})
    return api.post("webhooks", body=body, key=given.idempotency_key)


class ChangeWebhook(Settings, OneWebhook):
    url: str | None = Field(default=None, max_length=2_000)
    slugs: list[str] | None = Field(default=None, min_length=1, max_length=100, description=_SLUGS)


@tool(permission="webhook.manage", effect=Effect.CHANGE, result=shapes.Webhook)
def change_webhook(api: Api, given: ChangeWebhook) -> Any:
    """Change a webhook; what waits to be sent follows. What you do not name stays as it is."""
    body = given.model_dump(mode="json", exclude_unset=True, exclude={"webhook_id"})
    return api.patch("webhooks", given.webhook_id, body=body)


@tool(permission="webhook.manage", effect=Effect.CHANGE, result=shapes.Deleted)
def delete_webhook(api: Api, given: OneWebhook) -> Any:
    """Delete a webhook and cancel what waits for it."""
    api.delete("webhooks", given.webhook_id)
    return {"id": given.webhook_id}


class Act(OneWebhook):
    idempotency_key: Key = None


@tool(permission="webhook.manage", effect=Effect.CHANGE, result=shapes.Webhook)
def disable_webhook(api: Api, given: OneWebhook) -> Any:
    """Stop calling an endpoint. What happens meanwhile is kept for enable_webhook."""
    return api.post("webhooks", given.webhook_id, "disable")


class Enable(Act):
    replay_gap: bool = Field(default=True, description="Send what the endpoint missed.")


@tool(permission="webhook.manage", effect=Effect.CHANGE, result=shapes.EnabledWebhook)
def enable_webhook(api: Api, given: Enable) -> Any:
    """Call an endpoint again, from what it missed on."""
    body = {"replay_gap": given.replay_gap}
    return api.post("webhooks", given.webhook_id, "enable", body=body, key=given.idempotency_key)


@tool(permission="webhook.manage", effect=Effect.ADD, result=shapes.WebhookWithSecret)
def rotate_webhook_secret(api: Api, given: Act) -> Any:
    """Make a new signing secret. Until `previous_secret_until` the old one signs beside it, so that receivers can follow."""
    return api.post("webhooks", given.webhook_id, "rotate-secret", key=given.idempotency_key)


@tool(permission="webhook.manage", effect=Effect.CALL_OUT, result=shapes.Delivery)
def test_webhook(api: Api, given: Act) -> Any:
    """Send a `webhook.test` event to an endpoint; list_webhook_deliveries says how it went."""
    return api.post("webhooks", given.webhook_id, "test", key=given.idempotency_key)


class Replay(Act):
    delivery_id: UUID | None = Field(default=None, description="Send the event of this one delivery once more.")
    since: datetime | None = Field(default=None, description="Or: send the events since this time once more.")
    until: datetime | None = Field(default=None, description="Up to this time; now, if not given.")
    failed_only: bool | None = Field(default=None, description="Of the range, only events that never arrived.")


@tool(permission="webhook.manage", effect=Effect.CALL_OUT, result=shapes.Replayed)
def replay_webhook(api: Api, given: Replay) -> Any:
    """Send past events to an endpoint once more: that of one delivery, or those of a range of time."""
    body = given.model_dump(mode="json", exclude_none=True, exclude={"webhook_id", "idempotency_key"})
    return api.post("webhooks", given.webhook_id, "replay", body=body, key=given.idempotency_key)

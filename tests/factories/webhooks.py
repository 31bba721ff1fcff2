"""Factories of webhooks."""

from typing import Any
from uuid import UUID, uuid4

from kernel import clock, crypto
from tests.factories.registry import create, digest, factory, unique
from webhooks.models import ProviderEvent, SystemEvent, Webhook, WebhookAttempt, WebhookDelivery


@factory(Webhook)
def _webhook(workspace_id: UUID, **given: Any) -> Webhook:
    key = given.setdefault("id", uuid4())
    return create(
        Webhook,
        workspace_id,
        given,
        url="https://example.com/hook",
        slugs=["email.*"],
        secret_sealed=lambda: crypto.seal(
            b"a secret", workspace_id=workspace_id, table="webhooks_webhook", row_id=key, purpose="secret"
        ),
    )


@factory(SystemEvent)
def _system_event(workspace_id: UUID, **given: Any) -> SystemEvent:
    return create(
        SystemEvent,
        workspace_id,
        given,
        slug="email.received",
        aggregate_key=lambda: unique("thread_id"),
        occurred_at=clock.now,
        body='{"type":"test.happened","timestamp":"2026-11-29T12:00:00Z","data":{}}',
    )


@factory(WebhookDelivery)
def _delivery(workspace_id: UUID, **given: Any) -> WebhookDelivery:
    return create(
        WebhookDelivery,
        workspace_id,
        given,
        webhook=lambda: _webhook(workspace_id),
        system_event=lambda: _system_event(workspace_id),
    )


@factory(WebhookAttempt)
def _attempt(workspace_id: UUID, **given: Any) -> WebhookAttempt:
    return create(
        WebhookAttempt, workspace_id, given, delivery=lambda: _delivery(workspace_id), number=1, duration_ms=12
    )


@factory(ProviderEvent)
def _provider_event(workspace_id: UUID, **given: Any) -> ProviderEvent:
    return create(
        ProviderEvent,
        workspace_id,
        given,
        provider="ses",
        provider_event_id=lambda: unique("callback"),
        content_key=digest,
        kind="delivered",
    )

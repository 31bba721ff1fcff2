"""Endpoints, and what became of what was sent to them."""

import json
import uuid
from datetime import timedelta

from kernel import clock, crypto
from tests.console.seed import World
from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery


def webhook(world: World, label: str, *, failing: bool) -> Webhook:
    """An endpoint with deliveries; the failing one has attempts that say why."""
    now = clock.now()
    key = uuid.uuid4()
    row = Webhook.objects.create(
        id=key,
        workspace=world.workspace,
        label=label,
        url=f"https://hooks.example.com/{label.lower().replace(' ', '-')}",
        slugs=["email.*", "entry.sent"],
        secret_sealed=crypto.seal(
            b"a secret", workspace_id=world.workspace.id, table="webhooks_webhook", row_id=key, purpose="secret"
        ),
        failing_since=now - timedelta(hours=5) if failing else None,
    )
    for number in range(12):
        at = now - timedelta(minutes=67 * number)
        slug = ("email.received", "email.handled", "entry.sent")[number % 3]
        data = {"email_id": str(uuid.uuid4()), "inbox_id": str(world.inbox.id), "mail_class": "human"}
        event = SystemEvent.objects.create(
            workspace=world.workspace,
            slug=slug,
            aggregate_key=f"thread:{uuid.uuid4()}",
            occurred_at=at,
            body=json.dumps({"type": slug, "timestamp": at.isoformat(), "data": data}),
        )
        failed = failing and number < 3
        delivery = WebhookDelivery.objects.create(
            workspace=world.workspace,
            webhook=row,
            system_event=event,
            created_at=at,
            status="failed" if failed else "delivered",
            attempts=3 if failed else 1,
            last_status_code=503 if failed else 200,
            last_error="HTTP 503 Service Unavailable" if failed else "",
            delivered_at=None if failed else at + timedelta(milliseconds=200),
        )
        for attempt in range(3 if failed else 1):
            WebhookAttempt.objects.create(
                workspace_id=world.workspace.id,
                delivery=delivery,
                number=attempt + 1,
                at=at + timedelta(seconds=5 * attempt),
                duration_ms=184 + 40 * attempt,
                status_code=503 if failed else 200,
                error="HTTP 503 Service Unavailable" if failed else "",
                response_excerpt="<h1>503 Service Unavailable</h1>" if failed else '{"ok": true}',
            )
        world.extra.setdefault("failed_delivery", delivery) if failed else None
    return row

"""Factories of the plumbing."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from kernel import clock, crypto
from kernel.models import ConsumerReceipt, IdempotencyRecord, OutboxEvent
from tests.factories.registry import create, digest, factory, unique


@factory(OutboxEvent)
def _outbox_event(workspace_id: UUID, **given: Any) -> OutboxEvent:
    return create(
        OutboxEvent, workspace_id, given, slug="test.happened", aggregate_key=lambda: unique("thing"), payload={}
    )


@factory(ConsumerReceipt)
def _receipt(workspace_id: UUID, **given: Any) -> ConsumerReceipt:
    return create(ConsumerReceipt, workspace_id, given, event_id=uuid4, consumer=lambda: unique("consumer"))


@factory(IdempotencyRecord)
def _idempotency(workspace_id: UUID, **given: Any) -> IdempotencyRecord:
    return create(
        IdempotencyRecord,
        workspace_id,
        given,
        principal="machine_key:1",
        operation="POST /things",
        key=lambda: unique("key"),
        fingerprint=digest,
        response_status=201,
        response_body=lambda: crypto.seal(
            b"{}", workspace_id=workspace_id, table="kernel_idempotencyrecord", row_id=uuid4(), purpose="answer"
        ),
        expires_at=lambda: clock.now() + timedelta(hours=1),
    )

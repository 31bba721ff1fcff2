"""Factories of audit: its rows come into being by recording, never by hand."""

import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID

from audit import services
from audit.models import ApiRequest, AuditAnchor, AuditChain, AuditEvent, AuditPayload
from kernel import clock
from kernel.transactions import in_workspace
from tests.factories.registry import create, factory, unique


@factory(AuditEvent)
def _event(workspace_id: UUID, **given: Any) -> AuditEvent:
    with in_workspace(workspace_id) as unit:
        details = {"action": "test.act", "resource_kind": "thing", "resource_id": "1", "payload": {"size": 1}} | given
        services.record(workspace_id=workspace_id, **details)
        unit.flush()
        last = AuditEvent.objects.filter(workspace_id=workspace_id).order_by("-sequence").first()
    assert last is not None
    return last


@factory(AuditPayload)
def _payload(workspace_id: UUID, **given: Any) -> AuditPayload:
    event = _event(workspace_id, **given)
    return AuditPayload.objects.get(event_id=event.id)


@factory(AuditChain)
def _chain(workspace_id: UUID, **_: Any) -> AuditChain:
    _event(workspace_id)
    return AuditChain.objects.get(workspace_id=workspace_id)


@factory(AuditAnchor)
def _anchor(workspace_id: UUID, **_: Any) -> AuditAnchor:
    _event(workspace_id)
    with tempfile.TemporaryDirectory() as directory:
        services.anchor_all(directory=Path(directory))
    return AuditAnchor.objects.filter(workspace_id=workspace_id).latest("sequence")


@factory(ApiRequest)
def _api_request(workspace_id: UUID, **given: Any) -> ApiRequest:
    return create(
        ApiRequest,
        workspace_id,
        given,
        created_at=clock.now,
        request_id=lambda: unique("request"),
        method="GET",
        path="/api/v1/emails",
        status=200,
        duration_ms=12,
    )

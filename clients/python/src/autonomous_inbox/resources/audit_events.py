"""The resource `/api/v1/audit-events`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import AuditEvent, AuditVerification
from autonomous_inbox.wire import Call, given


class AuditEventsResource:
    """`client.audit_events`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        actor_kind: str | None = None,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        execution_id: str | None = None,
        limit: int | None = None,
        outcome: Literal["done", "denied", "failed"] | None = None,
        request_id: str | None = None,
        resource_id: str | None = None,
        resource_kind: str | None = None,
        sort: Literal["-sequence", "sequence"] | None = None,
    ) -> Pages[AuditEvent]:
        """The trail, newest first. Needs the permission `audit.read`. `GET /api/v1/audit-events`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/audit-events",
                query={
                    "action": action,
                    "actor_id": actor_id,
                    "actor_kind": actor_kind,
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "execution_id": execution_id,
                    "limit": limit,
                    "outcome": outcome,
                    "request_id": request_id,
                    "resource_id": resource_id,
                    "resource_kind": resource_kind,
                    "sort": sort,
                },
            ),
        )

    def export(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        actor_kind: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        file_format: Literal["jsonl", "csv"] | None = None,
        outcome: Literal["done", "denied", "failed"] | None = None,
        request_id: str | None = None,
        resource_id: str | None = None,
        resource_kind: str | None = None,
    ) -> bytes:
        """The trail as a file, oldest first; every link can be verified from it. That it was taken out is recorded. `GET /api/v1/audit-events/export`"""
        return (
            self._client.exchange(
                Call(
                    "GET",
                    "/api/v1/audit-events/export",
                    query={
                        "action": action,
                        "actor_id": actor_id,
                        "actor_kind": actor_kind,
                        "created_at__gte": created_at__gte,
                        "created_at__lt": created_at__lt,
                        "file_format": file_format,
                        "outcome": outcome,
                        "request_id": request_id,
                        "resource_id": resource_id,
                        "resource_kind": resource_kind,
                    },
                    accept="application/jsonl",
                )
            )
        ).content

    def verification(self) -> AuditVerification:
        """Recompute the chain now, and compare it with its anchors. Needs the permission `audit.read`. `GET /api/v1/audit-events/verification`"""
        return cast("AuditVerification", self._client.send(Call("GET", "/api/v1/audit-events/verification")))

    def get(self, audit_event_id: str) -> AuditEvent:
        """One event. Needs the permission `audit.read`. `GET /api/v1/audit-events/{audit_event_id}`"""
        return cast(
            "AuditEvent", self._client.send(Call("GET", f"/api/v1/audit-events/{quote(audit_event_id, safe='')}"))
        )

    def redact(self, audit_event_id: str, *, reason: str, idempotency_key: str | None = None) -> AuditEvent:
        """Empty the details of an event, for good. The chain keeps their hash, and has the record of this. `POST /api/v1/audit-events/{audit_event_id}/redact`"""
        return cast(
            "AuditEvent",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/audit-events/{quote(audit_event_id, safe='')}/redact",
                    body=given(reason=reason),
                    key=idempotency_key,
                )
            ),
        )

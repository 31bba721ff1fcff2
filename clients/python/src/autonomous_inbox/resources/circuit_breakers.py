"""The resource `/api/v1/circuit-breakers`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import CircuitBreaker
from autonomous_inbox.wire import Call


class CircuitBreakersResource:
    """`client.circuit_breakers`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(
        self,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        expand: Sequence[Literal["inbox"]] | None = None,
        inbox_id: str | None = None,
        limit: int | None = None,
        scope: Literal["thread", "sender", "inbox", "workspace", "hops"] | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
    ) -> Pages[CircuitBreaker]:
        """Where automatic answers were stopped, newest first. Needs the permission `inbox.read`. `GET /api/v1/circuit-breakers`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/circuit-breakers",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "inbox_id": inbox_id,
                    "limit": limit,
                    "scope": scope,
                    "sort": sort,
                },
            ),
        )

    def get(self, circuit_breaker_id: str, *, expand: Sequence[Literal["inbox"]] | None = None) -> CircuitBreaker:
        """One of them. Needs the permission `inbox.read`. `GET /api/v1/circuit-breakers/{circuit_breaker_id}`"""
        return cast(
            "CircuitBreaker",
            self._client.send(
                Call("GET", f"/api/v1/circuit-breakers/{quote(circuit_breaker_id, safe='')}", query={"expand": expand})
            ),
        )

    def close(self, circuit_breaker_id: str, *, idempotency_key: str | None = None) -> CircuitBreaker:
        """Allow automatic answers again; the cap counts anew. Needs the permission `inbox.manage`. `POST /api/v1/circuit-breakers/{circuit_breaker_id}/close`"""
        return cast(
            "CircuitBreaker",
            self._client.send(
                Call(
                    "POST", f"/api/v1/circuit-breakers/{quote(circuit_breaker_id, safe='')}/close", key=idempotency_key
                )
            ),
        )

"""Try connections: when somebody asks, when a secret is new, and every now and then.

A try is claimed by its due time, made outside of any transaction, and written down if nothing else has happened to the
connection meanwhile. Its outcome is the only thing that makes a connection connected.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from inbox.channels.transport import NotAccepted, SignInRefused
from inbox.events import ConnectionConnected, ConnectionDegraded, ConnectionExpired
from inbox.models import Connection, ConnectionCredential
from inbox.queries import connections
from inbox.services import connecting
from inbox.types import USABLE, ConnectionState
from kernel import clock, outbox
from kernel.context import Actor, acting_as
from kernel.transactions import in_all_workspaces, in_workspace

logger = logging.getLogger(__name__)

CHECKER = Actor(kind="system", id="connections", label="connection checker")
_LEASE = timedelta(seconds=120)


@dataclass(frozen=True)
class _Outcome:
    """How a try ended; no code means that the provider let us in."""

    code: str = ""
    detail: str = ""
    capabilities: dict[str, Any] | None = None


def check_due() -> bool:
    """Try one connection whose time has come; False when there is none."""
    with in_all_workspaces("the checker serves every workspace"):
        due = Connection.objects.filter(check_due_at__lte=clock.now()).order_by("check_due_at")
        row = due.select_for_update(skip_locked=True).first()
        if row is None:
            return False
        row.check_due_at = clock.now() + _LEASE
        row.save(update_fields=["check_due_at"])
        secret = connections.credential(row.id)
    with acting_as(CHECKER):
        outcome = _try(row, secret) if secret else _Outcome("expired", "The time of the secret has come.")
        _write(row.workspace_id, row.id, row.check_due_at, outcome)
    return True


def refused_to_send(*, workspace_id: UUID, connection_id: UUID, detail: str) -> None:
    """The sender was not let in: say so at once, not only at the next try."""
    with in_workspace(workspace_id):
        row = connecting.locked(connection_id)
        if row.state == ConnectionState.CONNECTED:
            _move(row, _Outcome("sign_in_refused", detail))


def _try(row: Connection, secret: ConnectionCredential) -> _Outcome:
    try:
        return _Outcome(capabilities=connections.tried(row, secret).check())
    except SignInRefused as error:
        return _Outcome("sign_in_refused", str(error))
    except NotAccepted as error:
        return _Outcome("unreachable", str(error))
    except Exception as error:
        logger.exception("a provider failed in an unknown way", extra={"connection_id": str(row.id)})
        return _Outcome("fault", type(error).__name__)


def _write(workspace_id: UUID, connection_id: UUID, leased_until: datetime, outcome: _Outcome) -> None:
    with in_workspace(workspace_id):
        row = connecting.locked(connection_id)
        # A new secret, a new configuration or a disconnection has given it another time: this try is of the past.
        if row.check_due_at == leased_until:
            _move(row, outcome)


def _move(row: Connection, outcome: _Outcome) -> None:
    before = ConnectionState(row.state)
    row.state = _next(before, outcome)
    row.error_code, row.error_detail = outcome.code, outcome.detail[:300]
    row.last_health_at, row.check_due_at = clock.now(), _next_time(row)
    if outcome.capabilities is not None:
        row.capabilities = outcome.capabilities
    row.save(update_fields=["state", "error_code", "error_detail", "last_health_at", "check_due_at", "capabilities"])
    if row.state != before:
        _tell(row, outcome)


def _next(state: ConnectionState, outcome: _Outcome) -> ConnectionState:
    if not outcome.code:
        return ConnectionState.CONNECTED
    if outcome.code == "expired":
        return ConnectionState.EXPIRED
    # What was never let in goes on waiting; only what was connected can be worse than that.
    return ConnectionState.DEGRADED if state in USABLE else state


def _next_time(row: Connection) -> datetime | None:
    if row.state == ConnectionState.EXPIRED:
        return None
    later = clock.now() + timedelta(seconds=settings.CONNECTION_CHECK_SECONDS)
    secret = connections.credential(row.id)
    return min(later, secret.expires_at) if secret and secret.expires_at else later


def _tell(row: Connection, outcome: _Outcome) -> None:
    common: dict[str, Any] = {
        "workspace_id": row.workspace_id,
        "connection_id": row.id,
        "provider": row.provider,
        "state": str(row.state),
    }
    if row.state == ConnectionState.CONNECTED:
        outbox.emit(ConnectionConnected(**common))
        connecting.record_of(row, "connected")
    elif row.state == ConnectionState.EXPIRED:
        outbox.emit(ConnectionExpired(**common))
        connecting.record_of(row, "expired")
    else:
        outbox.emit(ConnectionDegraded(**common, error_code=outcome.code))
        connecting.record_of(row, "degraded", error_code=outcome.code)

"""Connect accounts of providers, give them secrets, take them away again.

A secret goes in and does not come out. A new one makes the connection wait (pending_authorization) until the provider
has let us in with it: connected is what was tried, never what was typed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction

from audit.services import record
from inbox import normalise
from inbox.events import (
    ConnectionChanged,
    ConnectionCreated,
    ConnectionDisconnected,
    ConnectionUpdated,
)
from inbox.models import Connection, ConnectionCredential
from inbox.queries import connections
from inbox.types import ConnectionState, Provider
from kernel import clock, context, crypto, nudge, outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import after_commit, in_workspace

CHECK = "inbox.tasks.check_connections"
SECRET_LENGTH = 4096


class AlreadyConnected(Conflict):
    """The workspace has a connection of this account."""

    code = "already_connected"


class NothingToTry(Conflict):
    """Without a secret there is nothing to try."""

    code = "connection_without_secret"


def connect(
    *,
    workspace_id: UUID,
    provider: str,
    name: str,
    configuration: Mapping[str, Any],
    secret: str = "",
    expires_at: datetime | None = None,
) -> Connection:
    """A new connection; with a secret it is tried at once, without one it is unconfigured."""
    kept, account = _read(provider, configuration)
    owner = context.actor.get()
    with in_workspace(workspace_id):
        try:
            with transaction.atomic():
                row = Connection.objects.create(
                    workspace_id=workspace_id,
                    provider=provider,
                    name=name or account,
                    external_account_id=account,
                    configuration=kept,
                    owner_kind=owner.kind,
                    owner_id=owner.id,
                    owner_label=owner.label[:200],
                )
        except IntegrityError as error:
            raise _taken() from error
        if secret:
            _authorize(row, secret, expires_at)
        _tell(row, ConnectionCreated, "create", account=account, has_secret=bool(secret))
    return connections_row(workspace_id, row.id)


def change(*, workspace_id: UUID, connection_id: UUID, changes: Mapping[str, Any]) -> Connection:
    """Another name, or another configuration, with which it has to be tried anew."""
    with in_workspace(workspace_id):
        row = locked(connection_id)
        if "name" in changes:
            row.name = changes["name"]
        if "configuration" in changes:
            row.configuration, row.external_account_id = _read(row.provider, changes["configuration"])
        try:
            with transaction.atomic():
                row.save(update_fields=["name", "configuration", "external_account_id"])
        except IntegrityError as error:
            raise _taken() from error
        if "configuration" in changes and connections.credential(row.id):
            _wait(row)
        _tell(row, ConnectionUpdated, "change", fields=sorted(changes), account=row.external_account_id)
    return connections_row(workspace_id, connection_id)


def authorize(
    *, workspace_id: UUID, connection_id: UUID, secret: str, expires_at: datetime | None = None
) -> Connection:
    """A secret in place of whatever there was; it is tried at once."""
    with in_workspace(workspace_id):
        row = locked(connection_id)
        _authorize(row, secret, expires_at)
        _tell(row, ConnectionUpdated, "authorize", expires_at=expires_at)
    return connections_row(workspace_id, connection_id)


def ask_for_check(*, workspace_id: UUID, connection_id: UUID) -> Connection:
    """Have the connection tried soon; how that went is in its state and in `last_health_at`."""
    with in_workspace(workspace_id):
        row = locked(connection_id)
        if connections.credential(row.id) is None:
            raise NothingToTry("This connection has no secret that is good now. Give it one first.")
        _check_soon(row)
        record_of(row, "test")
    return connections_row(workspace_id, connection_id)


def disconnect(*, workspace_id: UUID, connection_id: UUID) -> Connection:
    """Send nothing through it any more, and destroy its secret. Doing it twice changes nothing."""
    with in_workspace(workspace_id):
        row = locked(connection_id)
        if row.state != ConnectionState.DISCONNECTED:
            row.state, row.check_due_at = ConnectionState.DISCONNECTED, None
            row.save(update_fields=["state", "check_due_at"])
            _revoke(row)
            _tell(row, ConnectionDisconnected, "disconnect")
    return connections_row(workspace_id, connection_id)


def locked(connection_id: UUID) -> Connection:
    """The connection, before its secrets, so that two who change it wait for each other in one order."""
    row = Connection.objects.select_for_update().filter(id=connection_id).first()
    if row is None:
        raise NotFound
    return row


def connections_row(workspace_id: UUID, connection_id: UUID) -> Connection:
    """As the database has it now."""
    with in_workspace(workspace_id):
        return connections.get(connection_id)


def record_of(row: Connection, verb: str, **details: Any) -> None:
    """What was done to a connection, in the audit trail; never with a secret."""
    record(
        workspace_id=row.workspace_id,
        action=f"connection.{verb}",
        resource_kind="connection",
        resource_id=row.id,
        payload={"provider": row.provider, "state": row.state, **details},
    )


def _read(provider: str, configuration: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    if provider not in Provider.values:
        raise Invalid(f"Possible providers are {', '.join(Provider.values)}.", pointer="/provider")
    if provider == Provider.SES:
        return normalise.ses_account(configuration)
    return normalise.smtp_server(configuration)


def _authorize(row: Connection, secret: str, expires_at: datetime | None) -> None:
    if not secret or len(secret) > SECRET_LENGTH:
        raise Invalid(f"A secret has 1 to {SECRET_LENGTH} characters.", pointer="/secret")
    if expires_at is not None and expires_at <= clock.now():
        raise Invalid("This time is over. Leave expires_at out if the secret does not expire.", pointer="/expires_at")
    # First the state, then the secret: nothing that is called connected may be without one, not for a moment.
    _wait(row)
    before, key = _revoke(row), uuid4()
    place: Any = {"workspace_id": row.workspace_id, "table": connections.TABLE, "row_id": key}
    ConnectionCredential.objects.create(
        id=key,
        workspace_id=row.workspace_id,
        connection=row,
        purpose=connections.SENDING,
        secret_sealed=crypto.seal(secret.encode(), **place, purpose=connections.PURPOSE),
        expires_at=expires_at,
        rotated_from=before,
    )


def _revoke(row: Connection) -> ConnectionCredential | None:
    before = ConnectionCredential.objects.filter(connection=row, revoked_at=None).first()
    if before is not None:
        before.revoked_at, before.secret_sealed = clock.now(), None
        before.save(update_fields=["revoked_at", "secret_sealed"])
    return before


def _wait(row: Connection) -> None:
    if row.state != ConnectionState.PENDING_AUTHORIZATION:
        row.state = ConnectionState.PENDING_AUTHORIZATION
        row.save(update_fields=["state"])
    _check_soon(row)


def _check_soon(row: Connection) -> None:
    row.check_due_at = clock.now()
    row.save(update_fields=["check_due_at"])
    after_commit(lambda: nudge.wake(CHECK))


def _taken() -> AlreadyConnected:
    return AlreadyConnected("The workspace has a connection of this account already. Give that one a new secret.")


def _tell(row: Connection, event: type[ConnectionChanged], verb: str, **details: Any) -> None:
    outbox.emit(event(workspace_id=row.workspace_id, connection_id=row.id, provider=row.provider, state=str(row.state)))
    record_of(row, verb, **details)

"""Connections as they stand, and the transport that an inbox sends with."""

from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from inbox.channels import registry
from inbox.channels.transport import NotAccepted, Transport
from inbox.models import Connection, ConnectionCredential
from inbox.types import USABLE, ConnectionState, Provider
from kernel import crypto
from kernel.envelope import CannotDecrypt
from kernel.errors import NotFound
from kernel.secrecy import Secret
from kernel.transactions import in_workspace

TABLE = "inbox_connectioncredential"
PURPOSE = "secret"
SENDING = "sending"


def shown() -> QuerySet[Connection]:
    """The scope's connections with `has_secret`: whether one is there that is good at this moment."""
    live = ConnectionCredential.objects.filter(live_now(), connection_id=OuterRef("pk"))
    return Connection.objects.annotate(has_secret=Exists(live))


def live_now() -> Q:
    """Credentials that are neither revoked nor past their time."""
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=Now()))


def get(connection_id: UUID) -> Connection:
    """One of the scope; NotFound for any other."""
    row = shown().filter(id=connection_id).first()
    if row is None:
        raise NotFound
    return row


def standing(row: Connection) -> ConnectionState:
    """The state as it is to be told: without a secret that is good now, nothing is called connected (S3-65)."""
    state = ConnectionState(row.state)
    has_secret = getattr(row, "has_secret", None)
    if has_secret is None:
        has_secret = row.credentials.filter(live_now()).exists()
    return ConnectionState.EXPIRED if state in USABLE and not has_secret else state


def credential(connection_id: UUID) -> ConnectionCredential | None:
    """The live secret of a connection, still sealed."""
    return ConnectionCredential.objects.filter(live_now(), connection_id=connection_id, purpose=SENDING).first()


def opened(row: ConnectionCredential) -> Secret:
    """The secret itself, for the transport and for nobody else; CannotDecrypt when no key opens it."""
    place: Any = {"workspace_id": row.workspace_id, "table": TABLE, "row_id": row.id, "purpose": PURPOSE}
    return Secret(crypto.open_sealed(bytes(row.secret_sealed or b""), **place).decode())


def transport_of(workspace_id: UUID, connection_id: UUID | None) -> Transport:
    """What mail of an inbox leaves through. Raises NotAccepted while its connection cannot be used.

    It does not fall back to the installation's own: mail would leave from where its domain does not expect it.
    """
    if connection_id is None:
        return registry.transport()
    with in_workspace(workspace_id):
        row = get(connection_id)
        state, secret = standing(row), credential(connection_id)
    if state not in USABLE or secret is None:
        raise NotAccepted(f"not sent: the connection “{row.name}” is {state.label.lower()}", permanent=False)
    return tried(row, secret)


def tried(row: Connection, secret: ConnectionCredential) -> Transport:
    """The transport of a connection in whatever state, for trying it."""
    try:
        return registry.connected(row.provider, row.configuration, opened(secret))
    except CannotDecrypt as error:
        raise NotAccepted("the secret cannot be opened: set it anew", permanent=False) from error


def region_of(inbox_id: UUID) -> str:
    """The AWS region that an inbox sends through by a connection of its own, or nothing."""
    found = Connection.objects.filter(inboxes=inbox_id, provider=Provider.SES)
    return str(found.values_list(F("configuration__region"), flat=True).first() or "")

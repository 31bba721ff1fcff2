"""Whether somebody who decided something may still decide it. Asked where a decision takes effect later than it was made.

What was said by a person who has been shut out since, or by a key that was revoked, is not carried out in their name.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from kernel.access import Principal
from kernel.context import ESTATE, Actor
from kernel.transactions import in_all_workspaces
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert, RevokedToken, User, Workspace
from tenancy.queries import principals
from tenancy.types import CredentialState


def may_still(actor: Actor, permission: str, *, workspace_id: UUID, inbox_id: UUID, since: datetime) -> bool:
    """Whether the actor of a decision made at `since`, in the workspace of the scope, has the permission now, and sees
    the inbox that it is about."""
    ask = _KINDS.get(actor.kind)
    principal = ask(actor, workspace_id, since) if ask is not None else None
    if principal is None or not principal.allows(permission):
        return False
    return principal.inbox_ids is None or inbox_id in principal.inbox_ids


def _member(actor: Actor, workspace_id: UUID, _since: datetime) -> Principal | None:
    return principals.of_member(user_id=UUID(actor.id), workspace_id=workspace_id)


def _operator(actor: Actor, workspace_id: UUID, _since: datetime) -> Principal | None:
    is_one = User.objects.filter(id=actor.id, is_active=True, is_staff=True, is_operator=True).exists()
    return Principal(workspace_id, actor, frozenset({"*"})) if is_one else None


def _machine_key(actor: Actor, workspace_id: UUID, _since: datetime) -> Principal | None:
    return _of_credential(actor, MachineKey.objects.filter(id=actor.id).first())


def _certificate(actor: Actor, workspace_id: UUID, _since: datetime) -> Principal | None:
    row = ClientCertificate.objects.filter(id=actor.id).first()
    if row is None:
        return None
    named = Q(fingerprint=row.fingerprint) | Q(serial=row.serial, issuer=row.issuer)
    with in_all_workspaces("a denial of the estate's own workspace holds for every workspace"):
        is_denied = RevokedClientCert.objects.filter(named, workspace_id__in=[workspace_id, ESTATE]).exists()
    return None if is_denied else _of_credential(actor, row)


def _of_credential(actor: Actor, row: MachineKey | ClientCertificate | None) -> Principal | None:
    if row is None or row.state != CredentialState.ACTIVE:
        return None
    return Principal(row.workspace_id, actor, frozenset(row.scopes))


def _token(actor: Actor, workspace_id: UUID, since: datetime) -> Principal | None:
    """A token names its permissions itself, to whoever it is shown, and ends within minutes: what can be known later is
    whether somebody has revoked it."""
    is_cut_off = Workspace.objects.filter(id=workspace_id, tokens_valid_from__gt=since).exists()
    if is_cut_off or RevokedToken.objects.filter(jti=actor.id).exists():
        return None
    return Principal(workspace_id, actor, frozenset({"*"}))


_KINDS: Final[dict[str, Callable[[Actor, UUID, datetime], Principal | None]]] = {
    "user": _member,
    "operator": _operator,
    "machine_key": _machine_key,
    "certificate": _certificate,
    "token": _token,
}

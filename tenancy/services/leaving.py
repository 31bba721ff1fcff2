"""How members go: suspended for a while, or removed; and with them what they had let in.

A machine key, a certificate and an invitation act by themselves. Whoever is shut out would otherwise go on through those
that they had issued, and come back by a link that they had sent to themselves.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from kernel import clock
from kernel.errors import Conflict
from kernel.transactions import in_workspace
from tenancy.events import MemberRemoved, MemberSuspended
from tenancy.models import ClientCertificate, Invitation, MachineKey, Membership, MembershipRole
from tenancy.services import certificates, granting, inviting, keys, members
from tenancy.types import MembershipStatus


def suspend(
    *,
    workspace_id: UUID,
    membership_id: UUID,
    keep_credentials: bool = False,
    may: frozenset[str] = granting.EVERYTHING,
) -> Membership:
    """Shut a member out until they are let in again. Their roles stay with them; what they had issued ends for good."""
    with in_workspace(workspace_id):
        member = members.locked(membership_id, may)
        members.expect(member, MembershipStatus.ACTIVE, "Only an active member can be suspended.")
        with members.an_owner_stays():
            members.move(member, MembershipStatus.SUSPENDED, suspended_at=clock.now())
        ended = end_issued(member, keep_credentials=keep_credentials)
        members.note(member, "suspend", MemberSuspended, **ended)
    return member


def remove(
    *,
    workspace_id: UUID,
    membership_id: UUID,
    keep_credentials: bool = False,
    may: frozenset[str] = granting.EVERYTHING,
) -> Membership:
    """End a membership, and what the member had issued. The row stays, without roles, for what refers to it; an
    invitation opens it again."""
    with in_workspace(workspace_id):
        member = members.locked(membership_id, may)
        if member.status == MembershipStatus.REMOVED:
            raise Conflict("This person is no longer a member.")
        with members.an_owner_stays():
            members.move(member, MembershipStatus.REMOVED, removed_at=clock.now())
            MembershipRole.objects.filter(membership=member).delete()
        ended = end_issued(member, keep_credentials=keep_credentials)
        members.note(member, "remove", MemberRemoved, **ended)
    return member


def end_issued(member: Membership, *, keep_credentials: bool = False) -> dict[str, Any]:
    """End what they let in, and what that let in; the ids, for the trail. Their own invitations are never kept.

    Needs a unit of work of the member's workspace. Each row is locked before what it issued is looked for, since whoever
    issues holds it, too (`granting.lock_giver`): nothing is committed behind this look.
    """
    Membership.objects.select_for_update(no_key=True).get(id=member.id)
    workspace_id = member.workspace_id
    ended: dict[str, list[UUID]] = {"machine_keys": [], "client_certificates": [], "invitations": []}
    themselves = ("user", str(member.user_id))
    for kind, issuer_id in [themselves] if keep_credentials else list(_issuers(*themselves)):
        for invitation in Invitation.objects.filter(
            invited_by_kind=kind, invited_by_id=issuer_id, accepted_at=None, revoked_at=None
        ):
            inviting.revoke(workspace_id=workspace_id, invitation_id=invitation.id)
            ended["invitations"].append(invitation.id)
        if keep_credentials:
            continue
        issued: dict[str, Any] = {"issued_by_kind": kind, "issued_by_id": issuer_id, "revoked_at": None}
        for key in MachineKey.objects.filter(**issued):
            ended["machine_keys"] += keys.revoke(workspace_id=workspace_id, key_id=key.id)
        for certificate in ClientCertificate.objects.filter(**issued):
            certificates.revoke(workspace_id=workspace_id, certificate_id=certificate.id, reason="its issuer has gone")
            ended["client_certificates"].append(certificate.id)
    return ended | {"keep_credentials": keep_credentials}


def _issuers(kind: str, issuer_id: str) -> Iterator[tuple[str, str]]:
    """A person, the credentials that they issued, and those that these issued, each once: revoked ones, too, since
    what they had issued goes on without them."""
    pending, seen = [(kind, issuer_id)], {(kind, issuer_id)}
    while pending:
        kind, issuer_id = pending.pop()
        yield kind, issuer_id
        issued = {"issued_by_kind": kind, "issued_by_id": issuer_id}
        found = [("machine_key", one) for one in _locked(MachineKey.objects.filter(**issued))]
        found += [("certificate", one) for one in _locked(ClientCertificate.objects.filter(**issued))]
        pending += [one for one in found if one not in seen]
        seen |= set(found)


def _locked(rows: QuerySet[Any]) -> list[str]:
    """Their ids. In one order, so that two who leave do not wait for each other."""
    return [str(one) for one in rows.select_for_update(no_key=True).order_by("id").values_list("id", flat=True)]

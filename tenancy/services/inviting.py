"""Invitations: make, send again, take back, accept.

The link of an invitation is good once, for a while, and for its address only. Its secret is made when the letter is, or,
where no mail to staff is configured, when the invitation is, and is then shown to who invites, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F

from audit.services import record
from kernel import clock, context, outbox
from kernel.context import Actor, acting_as
from kernel.errors import Conflict, Invalid, NotFound
from kernel.events import DomainEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy import normalise
from tenancy.credentials import links
from tenancy.events import MemberInvitationRevoked, MemberInvited, MemberJoined
from tenancy.models import Invitation, InvitationRole, Membership, User, Workspace
from tenancy.queries import members as of_workspace
from tenancy.queries import people
from tenancy.services import granting, mailing, members, passwords
from tenancy.types import InvitationState, MembershipStatus, WorkspaceStatus


@dataclass(frozen=True)
class Offer:
    """What an open invitation offers to who holds its link."""

    invitation_id: UUID
    workspace_id: UUID
    workspace: str
    email: str
    roles: tuple[str, ...]
    invited_by: str


class LinkOver(NotFound):
    """One answer for every link that is not good: unknown, used, taken back, over."""

    code = "link_over"

    def __init__(self) -> None:
        super().__init__("This invitation is not good any more. Ask whoever invited you for a new one.")


def invite(
    *, workspace_id: UUID, email: str, role_ids: Sequence[UUID], may: frozenset[str] = granting.EVERYTHING
) -> tuple[Invitation, str]:
    """Invite somebody; the invitation and its link, which is empty when it is mailed. Nobody gives more than they have."""
    address = _checked_email(email)
    with in_workspace(workspace_id):
        granting.lock_giver()
        roles = members.checked_roles(role_ids, may=may)
        if of_workspace.members().filter(user__email=address).exists():
            raise Conflict("This person is a member already. Change their roles instead.")
        who = context.actor.get()
        row = Invitation(
            workspace_id=workspace_id,
            email=address,
            expires_at=_end(),
            invited_by_kind=who.kind,
            invited_by_id=who.id,
            invited_by_label=who.label[:200],
        )
        _revoke_expired(address)
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict("There is an open invitation for this address. Send it again, or take it back.") from error
        InvitationRole.objects.bulk_create(
            [InvitationRole(workspace_id=workspace_id, invitation=row, role=role) for role in roles]
        )
        link = mailing.queue(row, path=_path)
        _note(row, "invite", roles=sorted(role.name for role in roles))
    return of_this(workspace_id, row.id), link


def resend(
    *, workspace_id: UUID, invitation_id: UUID, may: frozenset[str] = granting.EVERYTHING
) -> tuple[Invitation, str]:
    """A new link with a new end; the one before is dead. Its link, when it is not mailed."""
    with in_workspace(workspace_id):
        row = _locked(invitation_id)
        if row.state not in (InvitationState.OPEN, InvitationState.EXPIRED):
            raise Conflict("This invitation has ended. Invite the person anew.")
        members.checked_roles([held.role_id for held in row.role_links.all()], may=may)
        row.expires_at = _end()
        row.save(update_fields=["expires_at"])
        link = mailing.queue(row, path=_path)
        _note(row, "invite_again")
    return of_this(workspace_id, row.id), link


def revoke(*, workspace_id: UUID, invitation_id: UUID) -> Invitation:
    """Take an invitation back; its link is dead."""
    with in_workspace(workspace_id):
        row = _locked(invitation_id)
        if row.accepted_at is not None:
            raise Conflict("It was accepted already. Remove the member instead.")
        if row.revoked_at is None:
            row.revoked_at = clock.now()
            row.save(update_fields=["revoked_at"])
            _note(row, "revoke_invitation", MemberInvitationRevoked)
    return of_this(workspace_id, row.id)


def offered(token: str) -> Offer:
    """What a link offers; LinkOver for every one that is not good."""
    with in_all_workspaces("the link of an invitation names its workspace"):
        rows = Invitation.objects.select_related("workspace").filter(
            token_hash=links.digest(token),
            accepted_at=None,
            revoked_at=None,
            expires_at__gt=clock.now(),
            workspace__status=WorkspaceStatus.ACTIVE,
            workspace__deleted_at=None,
        )
        row = rows.first()
        if row is None:
            raise LinkOver
        names = row.role_links.order_by("role__name").values_list("role__name", flat=True)
        return Offer(row.id, row.workspace_id, row.workspace.name, row.email, tuple(names), row.invited_by_label)


def accept_as_new(*, token: str, name: str, password: str, timezone: str = "") -> User:
    """Join as somebody new: the account is made with this name and password. Conflict when there is one by now."""
    offer = offered(token)
    passwords.check(password, user=User(email=offer.email, name=name))
    with in_workspace(offer.workspace_id):
        _claim(offer)
        zone = timezone or Workspace.objects.values_list("timezone", flat=True).get(id=offer.workspace_id)
        try:
            with transaction.atomic():
                user = User.objects.create_user(offer.email, password, name=name, timezone=zone, is_staff=True)
        except IntegrityError as error:
            raise Conflict("There is an account with this address. Sign in with it to join.") from error
        _join(offer, user)
    return user


def accept(*, token: str, user: User) -> Membership:
    """Join with an account that there is; LinkOver when the invitation is for another address."""
    offer = offered(token)
    if user.email != offer.email or not user.is_active:
        raise LinkOver
    with in_workspace(offer.workspace_id):
        _claim(offer)
        if not user.is_staff:
            user.is_staff = True
            user.save(update_fields=["is_staff"])
        return _join(offer, user)


def has_account(offer: Offer) -> bool:
    """Whether whoever holds the link signs in, or makes an account. They hold it: for others there is no answer."""
    return people.by_email(offer.email) is not None


def of_this(workspace_id: UUID, invitation_id: UUID) -> Invitation:
    """The invitation as it is in the database."""
    with in_workspace(workspace_id):
        return of_workspace.invitation(invitation_id)


def _claim(offer: Offer) -> None:
    """In one statement: of many who accept at the same time one does."""
    now = clock.now()
    rows = Invitation.objects.filter(id=offer.invitation_id, accepted_at=None, revoked_at=None, expires_at__gt=now)
    # The secret is forgotten: a second use finds nothing, as does everybody who reads the table.
    if not rows.update(accepted_at=now, token_hash=None):
        raise LinkOver


def _join(offer: Offer, user: User) -> Membership:
    row = Invitation.objects.prefetch_related("role_links__role").get(id=offer.invitation_id)
    member, is_new = Membership.objects.select_for_update(no_key=True).get_or_create(
        workspace_id=offer.workspace_id,
        user=user,
        defaults={"accepted_at": clock.now(), "invited_by": row.invited_by_label},
    )
    if not is_new and member.status != MembershipStatus.REMOVED:
        raise Conflict("You are a member of this workspace already.")
    if not is_new:
        member.status, member.removed_at, member.suspended_at = MembershipStatus.ACTIVE, None, None
        member.accepted_at, member.invited_by = clock.now(), row.invited_by_label
        member.save(update_fields=["status", "removed_at", "suspended_at", "accepted_at", "invited_by"])
    members.hold(member, [link.role for link in row.role_links.all()])
    with acting_as(Actor(kind="user", id=str(user.pk), label=str(user))):
        record(
            workspace_id=offer.workspace_id,
            action="member.join",
            resource_kind="membership",
            resource_id=member.id,
            payload={"user_id": user.pk, "email": user.email, "invitation_id": row.id, "roles": list(offer.roles)},
        )
        outbox.emit(MemberJoined(workspace_id=offer.workspace_id, membership_id=member.id))
    return member


def _locked(invitation_id: UUID) -> Invitation:
    of_workspace.invitation(invitation_id)
    return Invitation.objects.select_for_update(no_key=True).get(id=invitation_id)


def _revoke_expired(email: str) -> None:
    """One that nobody accepted in time does not stand in the way of the next."""
    now = clock.now()
    Invitation.objects.filter(email=email, accepted_at=None, revoked_at=None, expires_at__lte=now).update(
        revoked_at=F("expires_at")
    )


def _checked_email(email: str) -> str:
    address = normalise.email(email)
    try:
        validate_email(address)
    except ValidationError as error:
        raise Invalid("This is no e-mail address.", pointer="/email") from error
    return address


def _end() -> datetime:
    return clock.now() + timedelta(hours=settings.INVITATION_HOURS)


def _path(token: str) -> str:
    return f"/console/join/{token}/"


def _note(
    row: Invitation, verb: str, event: type[MemberInvited | MemberInvitationRevoked] = MemberInvited, **details: object
) -> None:
    record(
        workspace_id=row.workspace_id,
        action=f"member.{verb}",
        resource_kind="invitation",
        resource_id=row.id,
        payload={"email": row.email} | details,
    )
    fact: DomainEvent = event(workspace_id=row.workspace_id, invitation_id=row.id)
    outbox.emit(fact)

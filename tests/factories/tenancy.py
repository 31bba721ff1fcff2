"""Factories of tenancy."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.apps import apps

from kernel import clock
from tenancy.models import (
    ClientCertificate,
    Invitation,
    InvitationRole,
    MachineKey,
    Membership,
    MembershipRole,
    Notice,
    RevokedClientCert,
    RevokedToken,
    Role,
    RolePermission,
    Team,
    TeamInbox,
    TeamMember,
    User,
    VerifiedDomain,
    Workspace,
    WorkspaceControlState,
)
from tenancy.types import MembershipStatus
from tests.factories.registry import FACTORIES, create, digest, factory, unique


def user(**given: Any) -> User:
    """A person, of no workspace yet."""
    fields = {"email": f"{unique('user')}@people.test", "password": "a long enough password"} | given
    return User.objects.create_user(**fields)


@factory(Workspace)
def _workspace(workspace_id: UUID, **_: Any) -> Workspace:
    return Workspace.objects.get(id=workspace_id)


@factory(Role)
def _role(workspace_id: UUID, **given: Any) -> Role:
    return create(Role, workspace_id, given, name=lambda: unique("role"))


@factory(RolePermission)
def _role_permission(workspace_id: UUID, **given: Any) -> RolePermission:
    return create(RolePermission, workspace_id, given, role=lambda: _role(workspace_id), permission="email.read")


@factory(Membership)
def _membership(workspace_id: UUID, **given: Any) -> Membership:
    return create(Membership, workspace_id, given, user=user, status=MembershipStatus.ACTIVE, accepted_at=clock.now)


@factory(MembershipRole)
def _membership_role(workspace_id: UUID, **given: Any) -> MembershipRole:
    return create(
        MembershipRole,
        workspace_id,
        given,
        membership=lambda: _membership(workspace_id),
        role=lambda: _role(workspace_id),
    )


@factory(Notice)
def _notice(workspace_id: UUID, **given: Any) -> Notice:
    return create(
        Notice,
        workspace_id,
        given,
        membership=lambda: _membership(workspace_id),
        subject="A webhook was switched off",
        text="It answers 500.",
        path="/console/",
    )


@factory(Invitation)
def _invitation(workspace_id: UUID, **given: Any) -> Invitation:
    return create(
        Invitation,
        workspace_id,
        given,
        email=lambda: f"{unique('guest')}@people.test",
        token_hash=digest,
        expires_at=lambda: clock.now() + timedelta(days=1),
    )


@factory(InvitationRole)
def _invitation_role(workspace_id: UUID, **given: Any) -> InvitationRole:
    return create(
        InvitationRole,
        workspace_id,
        given,
        invitation=lambda: _invitation(workspace_id),
        role=lambda: _role(workspace_id),
    )


@factory(MachineKey)
def _machine_key(workspace_id: UUID, **given: Any) -> MachineKey:
    return create(
        MachineKey,
        workspace_id,
        given,
        name="key",
        prefix=lambda: unique("k").replace("-", ""),
        secret_hash=digest,
        scopes=["email.read"],
    )


@factory(RevokedToken)
def _revoked_token(workspace_id: UUID, **given: Any) -> RevokedToken:
    return create(
        RevokedToken,
        workspace_id,
        given,
        jti=lambda: unique("jti"),
        expires_at=lambda: clock.now() + timedelta(hours=1),
    )


@factory(ClientCertificate)
def _client_certificate(workspace_id: UUID, **given: Any) -> ClientCertificate:
    return create(
        ClientCertificate,
        workspace_id,
        given,
        name="certificate",
        fingerprint=digest,
        serial="1f",
        issuer="CN=Test CA",
        subject="CN=machine",
        not_before=lambda: clock.now() - timedelta(days=1),
        not_after=lambda: clock.now() + timedelta(days=1),
        scopes=["email.read"],
    )


@factory(RevokedClientCert)
def _revoked_client_cert(workspace_id: UUID, **given: Any) -> RevokedClientCert:
    return create(RevokedClientCert, workspace_id, given, fingerprint=digest)


@factory(VerifiedDomain)
def _verified_domain(workspace_id: UUID, **given: Any) -> VerifiedDomain:
    return create(
        VerifiedDomain,
        workspace_id,
        given,
        domain=lambda: f"{unique('domain')}.test",
        challenge=lambda: unique("proof"),
    )


@factory(Team)
def _team(workspace_id: UUID, **given: Any) -> Team:
    return create(Team, workspace_id, given, name=lambda: unique("team"))


@factory(TeamMember)
def _team_member(workspace_id: UUID, **given: Any) -> TeamMember:
    return create(
        TeamMember,
        workspace_id,
        given,
        team=lambda: _team(workspace_id),
        membership=lambda: _membership(workspace_id),
    )


@factory(TeamInbox)
def _team_inbox(workspace_id: UUID, **given: Any) -> TeamInbox:
    def inbox() -> UUID:
        return FACTORIES[apps.get_model("inbox", "Inbox")](workspace_id).id

    return create(TeamInbox, workspace_id, given, team=lambda: _team(workspace_id), inbox_id=inbox)


@factory(WorkspaceControlState)
def _control_state(workspace_id: UUID, **_: Any) -> WorkspaceControlState:
    """Made with the workspace; there is no other one to make."""
    return WorkspaceControlState.objects.get(workspace_id=workspace_id)

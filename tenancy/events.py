"""Facts about workspaces."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class WorkspaceProvisioned(DomainEvent):
    """A workspace was created by the account hook, the command line or the first owner."""

    slug: ClassVar[str] = "workspace.provisioned"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    external_id: UUID
    ref: str


@dataclass(frozen=True, kw_only=True)
class MachineKeyIssued(DomainEvent):
    """A machine key was issued. Its secret is in no event."""

    slug: ClassVar[str] = "machine_key.issued"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "machine_key_id"

    machine_key_id: UUID


@dataclass(frozen=True, kw_only=True)
class MachineKeyChanged(DomainEvent):
    """The name, scopes, end or networks of a machine key were changed."""

    slug: ClassVar[str] = "machine_key.changed"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "machine_key_id"

    machine_key_id: UUID


@dataclass(frozen=True, kw_only=True)
class MachineKeyRotated(DomainEvent):
    """A machine key has a new secret; the one before it is good until `previous_secret_until`, or ended at once."""

    slug: ClassVar[str] = "machine_key.rotated"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "machine_key_id"

    machine_key_id: UUID
    previous_secret_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class MachineKeyRevoked(DomainEvent):
    """A machine key ended for good."""

    slug: ClassVar[str] = "machine_key.revoked"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "machine_key_id"

    machine_key_id: UUID


@dataclass(frozen=True, kw_only=True)
class ClientCertificateRegistered(DomainEvent):
    """A client certificate may act for the workspace."""

    slug: ClassVar[str] = "client_certificate.registered"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "client_certificate_id"

    client_certificate_id: UUID
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class ClientCertificateChanged(DomainEvent):
    """The name or the scopes of a client certificate were changed."""

    slug: ClassVar[str] = "client_certificate.changed"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "client_certificate_id"

    client_certificate_id: UUID


@dataclass(frozen=True, kw_only=True)
class ClientCertificateRevoked(DomainEvent):
    """A client certificate is refused from now on: by fingerprint, or by serial number and issuer."""

    slug: ClassVar[str] = "client_certificate.revoked"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "denial_id"

    denial_id: UUID
    fingerprint: str
    serial: str
    issuer: str


@dataclass(frozen=True, kw_only=True)
class TokenIssued(DomainEvent):
    """An operator signed a machine token for the workspace. The token itself is kept nowhere."""

    slug: ClassVar[str] = "token.issued"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "jti"

    jti: str
    kid: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class TokenRevoked(DomainEvent):
    """A machine token is refused before its end."""

    slug: ClassVar[str] = "token.revoked"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "jti"

    jti: str


@dataclass(frozen=True, kw_only=True)
class TokensRevoked(DomainEvent):
    """All machine tokens of the workspace that were issued before a time are refused."""

    slug: ClassVar[str] = "token.all_revoked"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    issued_before: datetime


@dataclass(frozen=True, kw_only=True)
class SigningKeyRevoked(DomainEvent):
    """Every token that names this `kid` is refused, in every workspace. Of the estate, so nobody subscribes to it."""

    slug: ClassVar[str] = "signing_key.revoked"
    aggregate: ClassVar[str] = "kid"

    kid: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceChanged(DomainEvent):
    """Base of the facts about a workspace itself."""

    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    ref: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceUpdated(WorkspaceChanged):
    """Its name, time zone or custom metadata has changed."""

    slug: ClassVar[str] = "workspace.updated"


@dataclass(frozen=True, kw_only=True)
class WorkspaceDeleted(WorkspaceChanged):
    """An operator has put a tombstone on the workspace: nobody gets in, and its mail is kept unread."""

    slug: ClassVar[str] = "workspace.deleted"


@dataclass(frozen=True, kw_only=True)
class WorkspaceRestored(WorkspaceChanged):
    """An operator has taken the tombstone away."""

    slug: ClassVar[str] = "workspace.restored"


@dataclass(frozen=True, kw_only=True)
class WorkspaceStopped(DomainEvent):
    """The emergency stop: nothing leaves the workspace until it is released."""

    slug: ClassVar[str] = "workspace.stopped"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    generation: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceResumed(DomainEvent):
    """The emergency stop was released: what waited goes on, in a new generation."""

    slug: ClassVar[str] = "workspace.resumed"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "workspace_id"

    generation: int


@dataclass(frozen=True, kw_only=True)
class RoleEvent(DomainEvent):
    """Base of the facts about roles."""

    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "role_id"

    role_id: UUID


@dataclass(frozen=True, kw_only=True)
class RoleCreated(RoleEvent):
    """A role was made."""

    slug: ClassVar[str] = "role.created"


@dataclass(frozen=True, kw_only=True)
class RoleChanged(RoleEvent):
    """A role has another name or description, or grants something else."""

    slug: ClassVar[str] = "role.changed"


@dataclass(frozen=True, kw_only=True)
class RoleDeleted(RoleEvent):
    """A role that nobody held was deleted."""

    slug: ClassVar[str] = "role.deleted"


@dataclass(frozen=True, kw_only=True)
class RoleGiven(RoleEvent):
    """A member has a role from their next request on."""

    slug: ClassVar[str] = "role.given"

    membership_id: UUID


@dataclass(frozen=True, kw_only=True)
class RoleTaken(RoleEvent):
    """A member has a role no more from their next request on."""

    slug: ClassVar[str] = "role.taken"

    membership_id: UUID


@dataclass(frozen=True, kw_only=True)
class TeamEvent(DomainEvent):
    """Base of the facts about teams."""

    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "team_id"

    team_id: UUID


@dataclass(frozen=True, kw_only=True)
class TeamCreated(TeamEvent):
    """A team was made."""

    slug: ClassVar[str] = "team.created"


@dataclass(frozen=True, kw_only=True)
class TeamChanged(TeamEvent):
    """A team has another name, other members or other inboxes."""

    slug: ClassVar[str] = "team.changed"


@dataclass(frozen=True, kw_only=True)
class TeamDeleted(TeamEvent):
    """A team was deleted; its members and inboxes stay."""

    slug: ClassVar[str] = "team.deleted"


@dataclass(frozen=True, kw_only=True)
class MemberInvited(DomainEvent):
    """Somebody was invited to the workspace, or invited again with a new link. The link is in no event."""

    slug: ClassVar[str] = "member.invited"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "invitation_id"

    invitation_id: UUID


@dataclass(frozen=True, kw_only=True)
class MemberInvitationRevoked(DomainEvent):
    """An invitation was taken back before anybody accepted it."""

    slug: ClassVar[str] = "member.invitation_revoked"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "invitation_id"

    invitation_id: UUID


@dataclass(frozen=True, kw_only=True)
class MemberChanged(DomainEvent):
    """Base of the facts about a member."""

    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "membership_id"

    membership_id: UUID


@dataclass(frozen=True, kw_only=True)
class MemberJoined(MemberChanged):
    """Somebody accepted an invitation, or was made an owner by whoever runs the installation."""

    slug: ClassVar[str] = "member.joined"


@dataclass(frozen=True, kw_only=True)
class MemberRolesChanged(MemberChanged):
    """A member holds other roles than before."""

    slug: ClassVar[str] = "member.roles_changed"


@dataclass(frozen=True, kw_only=True)
class MemberSuspended(MemberChanged):
    """A member is shut out until they are let in again."""

    slug: ClassVar[str] = "member.suspended"


@dataclass(frozen=True, kw_only=True)
class MemberReactivated(MemberChanged):
    """A suspended member is let in again."""

    slug: ClassVar[str] = "member.reactivated"


@dataclass(frozen=True, kw_only=True)
class MemberRemoved(MemberChanged):
    """Somebody is no longer a member."""

    slug: ClassVar[str] = "member.removed"

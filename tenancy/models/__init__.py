from tenancy.models.control import WorkspaceControlState
from tenancy.models.credential import (
    ClientCertificate,
    MachineKey,
    RevokedClientCert,
    RevokedSigningKey,
    RevokedToken,
    VerifiedDomain,
)
from tenancy.models.installation import Installation
from tenancy.models.invitation import Invitation, InvitationRole
from tenancy.models.membership import Membership, MembershipRole
from tenancy.models.notice import Notice
from tenancy.models.role import Permission, Role, RolePermission
from tenancy.models.session import DeviceSession, LoginEvent, ResetToken
from tenancy.models.team import Team, TeamInbox, TeamMember
from tenancy.models.throttle import Throttle
from tenancy.models.user import User
from tenancy.models.workspace import Workspace

__all__ = [
    "ClientCertificate",
    "DeviceSession",
    "Installation",
    "Invitation",
    "InvitationRole",
    "LoginEvent",
    "MachineKey",
    "Membership",
    "MembershipRole",
    "Notice",
    "Permission",
    "ResetToken",
    "RevokedClientCert",
    "RevokedSigningKey",
    "RevokedToken",
    "Role",
    "RolePermission",
    "Team",
    "TeamInbox",
    "TeamMember",
    "Throttle",
    "User",
    "VerifiedDomain",
    "Workspace",
    "WorkspaceControlState",
]

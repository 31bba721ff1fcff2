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
from tenancy.models.membership import Membership, MembershipRole
from tenancy.models.role import Permission, Role, RolePermission
from tenancy.models.team import Team, TeamInbox, TeamMember
from tenancy.models.user import User
from tenancy.models.workspace import Workspace

__all__ = [
    "ClientCertificate",
    "Installation",
    "MachineKey",
    "Membership",
    "MembershipRole",
    "Permission",
    "RevokedClientCert",
    "RevokedSigningKey",
    "RevokedToken",
    "Role",
    "RolePermission",
    "Team",
    "TeamInbox",
    "TeamMember",
    "User",
    "VerifiedDomain",
    "Workspace",
    "WorkspaceControlState",
]

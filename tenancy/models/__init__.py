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
    "User",
    "VerifiedDomain",
    "Workspace",
]

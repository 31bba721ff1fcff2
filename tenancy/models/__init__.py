from tenancy.models.credential import MachineKey, RevokedToken, VerifiedDomain
from tenancy.models.installation import Installation
from tenancy.models.membership import Membership, MembershipRole
from tenancy.models.role import Permission, Role, RolePermission
from tenancy.models.user import User
from tenancy.models.workspace import Workspace

__all__ = [
    "Installation",
    "MachineKey",
    "Membership",
    "MembershipRole",
    "Permission",
    "RevokedToken",
    "Role",
    "RolePermission",
    "User",
    "VerifiedDomain",
    "Workspace",
]

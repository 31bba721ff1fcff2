"""Who is calling: machine keys and revoked tokens are looked up on every request, so a change holds at the next one."""

import hashlib
import hmac
from uuid import UUID

from kernel import clock
from kernel.access import Principal
from kernel.context import Actor
from kernel.transactions import in_all_workspaces
from tenancy.models import MachineKey, RevokedToken, Workspace
from tenancy.types import WorkspaceStatus


def of_machine_key(text: str) -> Principal | None:
    """The principal of `mk_<prefix>_<secret>`, or None."""
    _, _, rest = text.partition("mk_")
    prefix, _, secret = rest.partition("_")
    if not secret or not (prefix.isascii() and prefix.isalnum()):
        return None
    with in_all_workspaces("a key names its workspace, not the other way round"):
        key = MachineKey.objects.select_related("workspace").filter(prefix=prefix).first()
    digest = hashlib.sha256(secret.encode()).digest()
    if key is None or not hmac.compare_digest(bytes(key.secret_hash), digest):
        return None
    ended = key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= clock.now())
    if ended or not _is_open(key.workspace):
        return None
    actor = Actor(kind="machine_key", id=str(key.id), label=key.name)
    return Principal(workspace_id=key.workspace_id, actor=actor, permissions=frozenset(key.scopes))


def of_token(*, subject: str, jti: str, scopes: frozenset[str]) -> Principal | None:
    """The principal of a verified JWT: `sub` is the external id of an active workspace, and `jti` is not revoked."""
    try:
        external_id = UUID(subject)
    except ValueError:
        return None
    with in_all_workspaces("a token names its workspace, not the other way round"):
        workspace = Workspace.objects.filter(external_id=external_id).first()
        if workspace is None or not _is_open(workspace):
            return None
        if RevokedToken.objects.filter(workspace_id=workspace.id, jti=jti).exists():
            return None
    return Principal(
        workspace_id=workspace.id,
        actor=Actor(kind="token", id=jti),
        permissions=scopes,
        account=f"workspace:{workspace.id}",
    )


def _is_open(workspace: Workspace) -> bool:
    return workspace.status == WorkspaceStatus.ACTIVE and workspace.deleted_at is None

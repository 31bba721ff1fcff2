"""The one door for permissions: a view names what it needs; tenancy registers who answers.

Kept here, below every app, so that audit and the others can guard their endpoints without importing tenancy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kernel.context import Actor, Scope
from kernel.errors import Forbidden, Unauthenticated


@dataclass(frozen=True)
class Principal:
    """An authenticated caller inside one workspace (decision X-2)."""

    workspace_id: UUID
    actor: Actor
    permissions: frozenset[str] = field(default_factory=frozenset)
    # Who this is across credentials: a renewed token is the same caller. Empty: the actor itself.
    account: str = ""
    # A member may be narrowed to the inboxes of their teams; None: every inbox of the workspace.
    inbox_ids: frozenset[UUID] | None = None

    @property
    def scope(self) -> Scope:
        """What all work in their name may see."""
        return Scope(workspace_id=self.workspace_id, inbox_ids=self.inbox_ids)

    # Django REST framework asks its users these two questions.
    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def pk(self) -> str:
        return self.account or f"{self.actor.kind}:{self.actor.id}"

    def allows(self, permission: str) -> bool:
        """Exact name, or a grant of everything in its family (`email.*`), or of everything (`*`)."""
        family = permission.partition(".")[0] + ".*"
        return not self.permissions.isdisjoint((permission, family, "*"))

    def require(self, permission: str) -> None:
        """Raise Forbidden, naming the missing permission."""
        if not self.allows(permission):
            raise Forbidden(
                f"This needs the permission {permission!r}. Ask an owner of the workspace to grant it.",
                permission=permission,
            )


Describe = Callable[[], dict[str, str]]
_catalogue: list[Describe] = []


def register_catalogue(describe: Describe) -> Describe:
    """Tenancy registers the permission names and their meanings; documentation and tests read them."""
    _catalogue.append(describe)
    return describe


def catalogue() -> dict[str, str]:
    """Every permission name with its meaning."""
    return {name: text for describe in _catalogue for name, text in describe().items()}


def principal_of(request: Any) -> Principal:
    """The principal that authentication put on a request; Unauthenticated when there is none."""
    if isinstance(request.user, Principal):
        return request.user
    raise Unauthenticated("Authenticate with `Authorization: Bearer` and a machine key or a machine token.")

"""Where a person works in the console: one workspace, or all of them; and what they may do there."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from kernel.access import Principal
from kernel.context import Actor, Scope
from kernel.errors import Forbidden


@dataclass(frozen=True)
class Choice:
    """A workspace that a person may work in."""

    id: UUID
    name: str
    ref: str = ""


@dataclass(frozen=True)
class Place:
    """The workspace a person has chosen (none: all of them, which only superusers may), and their permissions in it."""

    actor: Actor
    workspace: Choice | None
    choices: tuple[Choice, ...]
    permissions: frozenset[str]
    may_see_all: bool

    @property
    def workspace_id(self) -> UUID | None:
        return self.workspace.id if self.workspace else None

    @property
    def scope(self) -> Scope:
        if self.workspace:
            return Scope(workspace_id=self.workspace.id)
        return Scope(workspace_id=None, reason=f"{self.actor.label} looks at all workspaces in the console")

    @property
    def name(self) -> str:
        return self.workspace.name if self.workspace else "All workspaces"

    def allows(self, permission: str) -> bool:
        """Whether the person's roles grant it; the same rule as for machine callers."""
        principal = Principal(workspace_id=UUID(int=0), actor=self.actor, permissions=self.permissions)
        return principal.allows(permission)

    def require(self, permission: str) -> None:
        """Raise Forbidden, naming the missing permission."""
        if not self.allows(permission):
            raise Forbidden(
                f"This needs the permission {permission!r}. Ask an owner of the workspace to grant it.",
                permission=permission,
            )


def place_of(request: HttpRequest) -> Place:
    """The place that the console's middleware put on the request; Forbidden where there is none."""
    place: Any = getattr(request, "place", None)
    if isinstance(place, Place):
        return place
    raise Forbidden("Sign in to the console as a member of a workspace.")

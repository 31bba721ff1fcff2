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
    """Who works in the console, and where: in one workspace, or estate-wide, which only an operator may.

    Every page asks the principal, the same one that the API would ask. An operator who is in no workspace as a member acts
    as operator: the actor of all that they do says so.
    """

    principal: Principal
    workspace: Choice | None
    choices: tuple[Choice, ...]
    # May act in workspaces without a membership, whether or not that is what they do now.
    is_operator: bool = False

    @property
    def actor(self) -> Actor:
        return self.principal.actor

    @property
    def permissions(self) -> frozenset[str]:
        return self.principal.permissions

    @property
    def acts_as_operator(self) -> bool:
        """Whether the installation's own pages and powers are open here."""
        return self.is_operator and self.actor.kind == "operator"

    @property
    def workspace_id(self) -> UUID | None:
        return self.workspace.id if self.workspace else None

    @property
    def scope(self) -> Scope:
        if self.workspace:
            return self.principal.scope
        return Scope(workspace_id=None, reason=f"{self.actor.label} looks at all workspaces in the console")

    @property
    def name(self) -> str:
        return self.workspace.name if self.workspace else "All workspaces"

    @property
    def ref(self) -> str:
        """What was chosen, for the record."""
        return self.workspace.ref if self.workspace else "estate-wide"

    def allows(self, permission: str) -> bool:
        """Whether their roles grant it."""
        return self.principal.allows(permission)

    def require(self, permission: str) -> None:
        """Raise Forbidden, naming the missing permission."""
        self.principal.require(permission)


def place_of(request: HttpRequest) -> Place:
    """The place that the console's middleware put on the request; Forbidden where there is none."""
    place: Any = getattr(request, "place", None)
    if isinstance(place, Place):
        return place
    raise Forbidden("Sign in to the console as a member of a workspace.")

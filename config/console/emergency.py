"""The emergency stop, in reach on every page: what it says, and who may pull or release it."""

from dataclasses import dataclass
from datetime import datetime

from kernel.admin.place import Place
from tenancy.queries import control


@dataclass(frozen=True)
class Brake:
    """How the workspace stands, and what the person may do about it."""

    stopped: bool
    reason: str
    who: str
    since: datetime | None
    may_stop: bool
    may_release: bool


def brake(place: Place | None) -> Brake | None:
    """The brake of the chosen workspace; None where there is none to pull or to see."""
    if place is None or place.workspace_id is None:
        return None
    row = control.state(place.workspace_id)
    return Brake(
        stopped=row.stopped,
        reason=row.reason,
        who=row.actor_label,
        since=row.changed_at,
        may_stop=place.allows("workspace.stop"),
        may_release=place.allows("workspace.resume"),
    )

"""What a workspace may decide for itself: the keys of `Workspace.settings`, each with its default and what it means."""

from collections.abc import Mapping
from typing import Any, Final

KNOWN: Final[dict[str, tuple[bool, str]]] = {
    "members_see_team_inboxes_only": (
        False,
        "Members see the inboxes of their teams only, with all that belongs to them; who has inbox.see_all sees every one.",
    ),
    "stop_spares_webhooks": (
        False,
        "The emergency stop lets webhooks go on, so that your own systems hear what happens meanwhile.",
    ),
}


def shown(stored: Mapping[str, Any]) -> dict[str, bool]:
    """Every known key with its value; what nobody has decided is the default."""
    return {name: bool(stored.get(name, default)) for name, (default, _) in KNOWN.items()}

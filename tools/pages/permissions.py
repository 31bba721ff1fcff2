"""docs/permissions.md: every permission name, and which endpoints ask for it."""

import importlib
from collections import defaultdict

from kernel.access import catalogue
from kernel.api.views import WorkspaceViewSet
from tools.pages.markdown import code, table
from tools.pages.markdown import page as whole_page


def page() -> str:
    importlib.import_module("config.urls")
    asked = _asked()
    lines = [
        "A permission is granted by name to roles, machine keys and machine tokens; `family.*` stands for all of a family,",
        "`*` for everything. An endpoint that names no permission is refused to everybody.",
        "",
        *table(
            ["permission", "meaning", "asked for by"],
            ([code(name), text, ", ".join(sorted(asked[name]))] for name, text in sorted(catalogue().items())),
        ),
    ]
    return whole_page("Permissions", lines)


def _asked() -> dict[str, set[str]]:
    """By permission: view and action."""
    found: dict[str, set[str]] = defaultdict(set)
    pending = list(WorkspaceViewSet.__subclasses__())
    while pending:
        view = pending.pop()
        pending += view.__subclasses__()
        if view.__module__.startswith("tests."):
            continue
        for action, permission in view.permissions.items():
            found[permission].add(f"{view.__name__.removesuffix('ViewSet')} {action}")
    return found

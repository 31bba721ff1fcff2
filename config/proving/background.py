"""Background jobs with ids of another workspace in their hands: a job looks for its rows itself, whoever asked for it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from config.celery import app
from config.proving.findings import Findings


def names() -> list[str]:
    """Every job of the product."""
    app.loader.import_default_modules()
    return sorted(name for name in app.tasks if not name.startswith("celery."))


def settle() -> None:
    """Let each job do what is due anyway, so that nothing is left to change afterwards."""
    for name in names():
        app.tasks[name].run()


def walk(found: Findings, *, ours: UUID, foreign: Mapping[str, str]) -> None:
    """Each job, asked in the name of our workspace to work on rows of the other one."""
    payloads: list[dict[str, Any]] = [
        {"workspace_id": str(ours), **_named(foreign)},
        {"ids": list(foreign.values()), "workspace": str(ours)},
    ]
    for name in names():
        for payload in payloads:
            found.count("background")
            app.tasks[name].run(**payload)


def _named(foreign: Mapping[str, str]) -> dict[str, str]:
    """The ids under the names that a job could know them by: `email_id`, `webhook_id` and so on."""
    return {
        f"{name.partition('.')[0].partition('_')[2]}_id": value
        for name, value in foreign.items()
        if name.endswith(".id#0")
    }

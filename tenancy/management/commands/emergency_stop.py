"""The emergency stop from the command line, for when nothing else is in reach."""

from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from kernel.context import Actor, acting_as
from kernel.errors import DomainError
from tenancy.models import WorkspaceControlState
from tenancy.queries import control, credentials
from tenancy.services import stopping


class Command(BaseCommand):
    help = (
        "Stop everything that leaves a workspace (replies, agents, webhooks that are not spared), or release the stop. "
        "It holds at once, in every process, through restarts; with neither --reason nor --release it says how things stand."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="its ref (ws_…), id or external id")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--reason", default="", help="stop it, and say why")
        what.add_argument("--release", action="store_true", help="let what waited go on")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a sentence")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            workspace = credentials.workspace_named(options["workspace"])
            if options["dry_run"]:
                deed = "release" if options["release"] else "stop" if options["reason"] else "look at"
                rehearsed = {"workspace_id": str(workspace.id), "would": deed, "dry_run": True}
                said = f"Would {deed} the workspace {workspace.name}."
                self.stdout.write(orjson.dumps(rehearsed).decode() if options["json"] else said)
                return
            with acting_as(Actor(kind="operator", id="emergency_stop", label="command line")):
                row = self._turn(workspace.id, reason=options["reason"], release=options["release"])
        except DomainError as error:
            raise CommandError(error.detail) from error
        if options["json"]:
            shown = {
                "workspace_id": str(workspace.id),
                "stopped": row.stopped,
                "generation": row.generation,
                "reason": row.reason,
                "changed_by": row.actor_label,
                "changed_at": row.changed_at,
            }
            self.stdout.write(orjson.dumps(shown).decode())
            return
        stands = f"is stopped: {row.reason}" if row.stopped else "is not stopped"
        self.stdout.write(f"The workspace {workspace.name} {stands} (generation {row.generation}).")

    def _turn(self, workspace_id: Any, *, reason: str, release: bool) -> WorkspaceControlState:
        if release:
            return stopping.release(workspace_id=workspace_id)
        return stopping.stop(workspace_id=workspace_id, reason=reason) if reason else control.state(workspace_id)

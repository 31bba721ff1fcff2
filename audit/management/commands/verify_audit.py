"""Recompute every audit chain and name the first bad link."""

from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from audit import queries


class Command(BaseCommand):
    help = "Recompute the audit chain of every workspace (or of one) and compare it with its head and its anchors."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", type=UUID, help="check only this workspace (its id)")
        parser.add_argument(
            "--anchors",
            type=Path,
            default=settings.ANCHOR_DIRECTORY,
            help="directory of the anchor files (a copy on another machine is the better witness)",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a line instead of sentences")

    def handle(self, *args: Any, workspace: UUID | None = None, **options: Any) -> None:
        outside = queries.outside_anchors(options["anchors"], bucket=settings.ANCHOR_S3)
        owners = [workspace] if workspace else queries.chain_owners(outside=outside)
        verdicts = [queries.verify(owner, outside=outside) for owner in owners]
        for verdict in verdicts:
            if options["json"]:
                self.stdout.write(orjson.dumps(verdict).decode())
            elif verdict.holds:
                self.stdout.write(f"{verdict.workspace_id}: {verdict.checked} events, chain holds")
            else:
                self.stdout.write(f"{verdict.workspace_id}: broken at {verdict.first_bad}: {verdict.fault}")
        if not all(verdict.holds for verdict in verdicts):
            raise SystemExit(1)

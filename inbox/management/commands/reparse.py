"""Read stored mail again after an upgrade of the reader, and show what changed."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_datetime

from inbox.models import Email
from inbox.services import reparsing
from kernel.context import Actor, acting_as
from kernel.errors import DomainError
from kernel.transactions import in_all_workspaces


class Command(BaseCommand):
    help = "Read stored mail again with the present reader. Without --apply it only shows what would change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", help="one mail, by its id")
        parser.add_argument("--inbox", help="mail of one inbox, by its address")
        parser.add_argument("--since", help="mail received since then, such as 2026-11-05T09:00:00Z")
        parser.add_argument("--limit", type=int, default=1000, help="at most so many, the newest first (1000)")
        parser.add_argument("--apply", action="store_true", help="change what differs")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *_: Any, **options: Any) -> None:
        """Each mail by itself: one that cannot be read does not hold back the others."""
        differing = failed = 0
        rows = self._rows(options)
        with acting_as(Actor(kind="system", label="reparse")):
            for email_id, workspace_id in rows:
                try:
                    found = reparsing.reparse(
                        workspace_id=workspace_id, email_id=email_id, is_trial=not options["apply"]
                    )
                except DomainError as error:
                    failed += 1
                    self._say(options, email_id, [], error.detail)
                    continue
                differing += bool(found)
                if found:
                    self._say(options, email_id, found, "")
        if not options["json"]:
            done = "changed" if options["apply"] else "would change"
            self.stdout.write(f"{len(rows)} read, {differing} {done}, {failed} could not be read again")
        if failed:
            raise CommandError(f"{failed} could not be read again")

    def _rows(self, options: dict[str, Any]) -> list[Any]:
        since = self._since(options["since"])
        with in_all_workspaces("an operator reads mail of every workspace again"):
            emails = Email.objects.filter(entry__isnull=False)
            if options["email"]:
                emails = emails.filter(id=options["email"])
            if options["inbox"]:
                emails = emails.filter(inbox__address_normalized=options["inbox"].lower())
            if since:
                emails = emails.filter(received_at__gte=since)
            return list(emails.order_by("-created_at", "-id").values_list("id", "workspace_id")[: options["limit"]])

    def _since(self, given: str | None) -> datetime | None:
        found = parse_datetime(given) if given else None
        if given and (found is None or found.tzinfo is None):
            raise CommandError("--since takes a time with an offset, such as 2026-11-05T09:00:00Z")
        return found

    def _say(self, options: dict[str, Any], email_id: Any, found: list[dict[str, str]], problem: str) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({"email_id": str(email_id), "changes": found, "problem": problem}))
            return
        self.stdout.write(f"{email_id}  {problem}")
        for change in found:
            self.stdout.write(f"  {change['field']}: {change['before'][:80]!r} -> {change['after'][:80]!r}")

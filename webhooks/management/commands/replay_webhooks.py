"""Send the events of a time range to an endpoint again."""

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from audit import services as audit
from kernel import clock
from kernel.errors import DomainError
from kernel.transactions import in_all_workspaces
from webhooks.queries import webhooks
from webhooks.services import replaying


class Command(BaseCommand):
    help = (
        "Queue events again for one webhook: those of [--since, --until) that it subscribes to now. Receivers see the same "
        "webhook-id as before. Events that are still on their way are left alone. --dry-run only counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--webhook", type=UUID, required=True, help="id of the webhook")
        parser.add_argument("--since", type=_moment, required=True, help="ISO 8601 with a zone: 2030-01-31T08:00:00Z")
        parser.add_argument("--until", type=_moment, help="the same; now, when not given")
        parser.add_argument("--failed-only", action="store_true", help="only events that never arrived")
        parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a sentence")

    def handle(self, *args: Any, webhook: UUID, since: datetime, until: datetime | None, **options: Any) -> None:
        dry_run = options["dry_run"]
        try:
            with audit.command("replay_webhooks"):
                with in_all_workspaces("an operator names a webhook by its id alone"):
                    workspace_id = webhooks.get(webhook).workspace_id
                count = replaying.replay_range(
                    workspace_id=workspace_id,
                    webhook_id=webhook,
                    since=since,
                    until=until or clock.now(),
                    failed_only=options["failed_only"],
                    dry_run=dry_run,
                )
        except DomainError as error:
            raise CommandError(error.detail) from error
        if options["json"]:
            answer = {"webhook_id": webhook, "deliveries": count, "dry_run": dry_run}
            self.stdout.write(orjson.dumps(answer).decode())
        else:
            self.stdout.write(f"{count} deliveries {'would be queued' if dry_run else 'queued'}.")


def _moment(text: str) -> datetime:
    found = parse_datetime(text)
    if found is None or found.tzinfo is None:
        raise ValueError(text)
    return found

"""Hand in mail from files, as if it had just come."""

from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services as audit
from inbox.mime.parsing import parse
from inbox.services import accepting, ingesting
from kernel.errors import DomainError


class Command(BaseCommand):
    help = "Store raw mail files (.eml) for the inboxes that they are addressed to, and read them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--to", action="append", default=[], help="envelope recipient; default: To and Cc")
        parser.add_argument("--no-wait", action="store_true", help="only store; the workers read it")
        parser.add_argument("--dry-run", action="store_true", help="say what would be handed in, store nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a line instead of sentences")

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        failed = False
        with audit.command("ingest_mail"):
            for path in files:
                line = self._one(path, options)
                failed |= "error" in line
                self._say(line, as_json=options["json"])
            if not options["no_wait"] and not options["dry_run"]:
                ingesting.process_all()
        if failed:
            raise CommandError("Some files were not handed in.")

    def _one(self, path: Path, options: dict[str, Any]) -> dict[str, Any]:
        line: dict[str, Any] = {"file": str(path)}
        try:
            raw = path.read_bytes()
            mail = parse(raw)
            recipients = options["to"] or [a.address for a in (*mail.to, *mail.cc)]
            if not recipients:
                return line | {"error": "It names no recipient. Give one with --to."}
            if options["dry_run"]:
                return line | {"recipients": recipients, "emails": []}
            accepted = accepting.accept(
                source="file",
                provider_message_id=accepting.content_id(raw),
                raw=raw,
                recipients=recipients,
                envelope_from=mail.from_.address if mail.from_ else "",
            )
        except (OSError, DomainError) as error:
            return line | {"error": str(error)}
        emails = [str(row.email_id) for row in accepted if row.email_id]
        return line | {"recipients": recipients, "emails": emails, "new": any(row.is_new for row in accepted)}

    def _say(self, line: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(orjson.dumps(line).decode())
        elif "error" in line:
            self.stderr.write(f"{line['file']}: {line['error']}")
        else:
            self.stdout.write(f"{line['file']}: {len(line['emails'])} inbox(es), to {', '.join(line['recipients'])}")

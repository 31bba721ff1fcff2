"""Seal every secret with the newest key, and let old keys go."""

import sys
from collections import Counter
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services as audit
from config import keys
from kernel import crypto, rotation
from kernel.errors import DomainError
from kernel.keys import ring
from kernel.keys.refusals import KeysRefused


class Command(BaseCommand):
    help = (
        "Seal every secret of every table with the newest encryption key, in batches: it can be killed at any moment and "
        "started again, while everything runs. --retire lets an old version go once nothing names it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new-key", action="store_true", help="first make a new key (KEY_PROVIDER=aws_kms)")
        parser.add_argument("--batch", type=int, default=200, help="secrets in one transaction (default: 200)")
        parser.add_argument("--retire", type=int, metavar="VERSION", help="afterwards, retire this version for good")
        parser.add_argument("--dry-run", action="store_true", help="only say what is sealed with which version")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with audit.command("rotate_keys"):
                crypto.register_keys()
                done, broken = (Counter[str](), []) if options["dry_run"] else self._rotate(options)
                if options["retire"] is not None and not options["dry_run"]:
                    keys.retire(options["retire"])
        except (KeysRefused, DomainError) as error:
            raise CommandError(str(error)) from error
        self._report(options, done, broken)
        if broken:
            raise CommandError(
                f"{len(broken)} secrets open with none of the keys and were left as they are: {', '.join(broken[:5])}"
            )

    def _rotate(self, options: dict[str, Any]) -> tuple[Counter[str], list[str]]:
        if options["new_key"]:
            keys.renew()
        done, broken = Counter[str](), dict[str, None]()
        for batch in rotation.rotate(size=options["batch"], note=keys.note):
            done[f"{batch.column.table}.{batch.column.column}"] += batch.done
            broken |= dict.fromkeys(f"{batch.column.table} {row}" for row in batch.broken)
            if sys.stderr.isatty():
                self.stderr.write(f"\r{done.total()} secrets sealed anew", ending="")
        return done, list(broken)

    def _report(self, options: dict[str, Any], done: Counter[str], broken: list[str]) -> None:
        sealing, uses = ring.sealing()[0], rotation.uses()
        if options["json"]:
            report = {
                "sealing": sealing,
                "sealed_anew": dict(done),
                "broken": broken,
                "uses": {str(version): places for version, places in uses.items()},
            }
            self.stdout.write(orjson.dumps(report).decode())
            return
        for place, count in sorted(done.items()):
            self.stdout.write(f"{place}: {count} sealed anew")
        for version, places in sorted(uses.items()):
            now = " (seals now)" if version == sealing else ""
            self.stdout.write(f"version {version}{now}: {sum(places.values())} secrets")

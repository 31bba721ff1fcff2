"""What is wrong, and what to do about it."""

from typing import Any

import orjson
from django.core.checks import run_checks
from django.core.management.base import BaseCommand, CommandParser

from config import health, invariants
from kernel import crypto
from tenancy.queries import credentials


class Command(BaseCommand):
    help = "Name what keeps the installation from working, with the remedy. --deep recomputes the invariants as well."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--deep", action="store_true", help="recompute every invariant on the live data")
        parser.add_argument("--deploy", action="store_true", help="also what only a real deployment must have")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")

    def handle(self, *args: Any, deep: bool = False, deploy: bool = False, **options: Any) -> None:
        checks = [check for check in run_checks(include_deployment_checks=deploy) if not check.is_silenced()]
        faults = [f"{check.msg} {check.hint or ''}".strip() for check in checks]
        faults += health.problems()
        try:
            crypto.register_keys()
        except Exception as error:  # noqa: BLE001 - the doctor reports, whatever it meets
            faults.append(str(error))
        faults += credentials.problems()
        findings = invariants.deep() if deep else []
        faults += [f"{finding.name}: {finding.broken} rows contradict it" for finding in findings if finding.broken]
        if options["json"]:
            checked = [{"name": finding.name, "broken": finding.broken} for finding in findings]
            self.stdout.write(orjson.dumps({"faults": faults, "invariants": checked}).decode())
        else:
            for finding in findings:
                self.stdout.write(f"{'ok  ' if not finding.broken else 'BAD '} {finding.name}")
            for fault in faults:
                self.stdout.write(f"- {fault}")
            self.stdout.write("All is well." if not faults else f"{len(faults)} faults.")
        if faults:
            raise SystemExit(1)

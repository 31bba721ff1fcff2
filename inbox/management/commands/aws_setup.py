"""manage.py aws_setup: what this installation needs of Amazon SES, SNS and S3, shown or made."""

import json
import re
from argparse import ArgumentParser
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from rich.console import Console
from rich.table import Table
from rich.text import Text

from inbox.channels.aws import setup
from inbox.channels.aws.plan import Change, Wish
from inbox.channels.aws.setup import NotDone, Result

_FORMS = {
    "domain": r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]",
    "region": r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}",
    "bucket": r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
    "topic": r"[A-Za-z0-9_-]{1,256}",
    "configuration_set": r"[A-Za-z0-9_-]{1,64}",
    "rule_set": r"[A-Za-z0-9_-]{1,64}",
    "prefix": r"[A-Za-z0-9!_.*'()/-]{0,200}",
}
_COLOURS = {"create": "green", "update": "yellow", "none": "dim"}


class Command(BaseCommand):
    """Exit status 1 when AWS refuses; what was done before stays, and running again goes on from there."""

    help = (
        "Set up Amazon for mail in and out of one domain: a closed and encrypted bucket for received mail, a topic with our"
        " ingress subscribed, the domain's identity with DKIM, a configuration set that publishes deliveries and bounces,"
        " and a receipt rule. Only what differs is changed; --dry-run changes nothing. Credentials are found as by the AWS"
        " command line. Prints the DNS records to publish and the settings to set."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--domain", required=True, help="the domain that receives and sends, such as example.com")
        parser.add_argument("--region", default=settings.AWS_REGION, help="AWS region (default: %(default)s)")
        parser.add_argument("--bucket", required=True, help="bucket for received mail; made if it is not there")
        parser.add_argument("--topic", required=True, help="name of the SNS topic; made if it is not there")
        parser.add_argument("--ingress", default="", help="where SNS posts to (default: /ingress/ses at PUBLIC_URL)")
        parser.add_argument("--configuration-set", default=settings.SES_CONFIGURATION_SET or "autonomous-inbox")
        parser.add_argument(
            "--rule-set", default="autonomous-inbox", help="used when no receipt rule set is active yet"
        )
        parser.add_argument("--prefix", default="mail/", help="of the objects in the bucket (default: %(default)s)")
        parser.add_argument("--keep-days", type=int, default=30, help="days that mail stays in the bucket")
        parser.add_argument("--dry-run", action="store_true", help="show the differences and change nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        wish = _wish(options)
        try:
            result = setup.set_up(wish, dry=options["dry_run"])
        except NotDone as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(_document(result, dry=options["dry_run"]), indent=2))
            return
        # Django's wrapper of the output has what rich needs of a file.
        _Page(Console(file=cast("IO[str]", self.stdout)), dry=options["dry_run"]).show(result)


def _wish(options: dict[str, Any]) -> Wish:
    for name, form in _FORMS.items():
        if not re.fullmatch(form, options[name]):
            raise CommandError(f"--{name.replace('_', '-')} {options[name]!r} is not a valid name.")
    if options["keep_days"] < 1:
        raise CommandError("--keep-days must be 1 or more.")
    ingress = options["ingress"] or settings.PUBLIC_URL.rstrip("/") + reverse("ingress-ses")
    if not re.fullmatch(r"https?://[^\s/]+/\S*", ingress):
        raise CommandError("--ingress must be a URL that SNS can reach. Set PUBLIC_URL, or give --ingress.")
    return Wish(
        domain=options["domain"],
        region=options["region"],
        bucket=options["bucket"],
        topic=options["topic"],
        ingress=ingress,
        endpoint=settings.AWS_ENDPOINT_URL,
        configuration_set=options["configuration_set"],
        rule_set=options["rule_set"],
        prefix=options["prefix"],
        keep_days=options["keep_days"],
    )


def _document(result: Result, *, dry: bool) -> dict[str, Any]:
    return {
        "dry_run": dry,
        "changed": sum(bool(change.lines) for change in result.changes),
        "steps": [{"step": c.name, "action": c.action, "difference": c.lines} for c in result.changes],
        "dns": result.records,
        "environment": result.environment,
    }


class _Page:
    """The result for people."""

    def __init__(self, console: Console, *, dry: bool) -> None:
        self._console = console
        self._dry = dry

    def show(self, result: Result) -> None:
        for change in result.changes:
            self._change(change)
        count = sum(bool(change.lines) for change in result.changes)
        verb = "would be changed" if self._dry else "changed"
        self._console.print(
            f"\n{count} of {len(result.changes)} steps {verb}.\n" if count else "\nNothing to change.\n"
        )
        table = Table("type", "name", "value", title="DNS records to publish", title_justify="left")
        for record in result.records:
            table.add_row(record["type"], record["name"], record["value"])
        if not any(record["type"] == "CNAME" for record in result.records):
            table.add_row("CNAME", "(DKIM)", "known when the identity is there: run without --dry-run")
        self._console.print(table)
        self._console.print("\nSettings, before SNS asks our ingress to confirm its subscription:")
        for name, value in result.environment.items():
            self._console.print(Text(f"  {name}={value}"))

    def _change(self, change: Change) -> None:
        mark = {"create": "+", "update": "~", "none": "="}[change.action]
        self._console.print(Text(f"{mark} {change.name}", style=_COLOURS[change.action]))
        for line in change.lines:
            self._console.print(Text(f"    {line}", style="dim"))

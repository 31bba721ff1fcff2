"""The first owner of an installation."""

import secrets
from typing import Any
from uuid import uuid4

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services as audit
from kernel.errors import DomainError
from tenancy.services import bootstrapping


class Command(BaseCommand):
    help = "Make the first workspace, its owner, its mail domain and a machine key. Works once for an installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the owner signs in with this")
        parser.add_argument("--password", help="made and shown when it is not given")
        parser.add_argument("--workspace", default="My workspace", help="name of the workspace")
        parser.add_argument("--domain", default="", help="mail domain that you own, such as example.com")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")
        parser.add_argument("--dry-run", action="store_true", help="say what would be made")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"]:
            rehearsed = {"workspace": options["workspace"], "email": options["email"], "dry_run": True}
            said = f"Would make the workspace {options['workspace']!r} and its owner {options['email']}."
            self.stdout.write(orjson.dumps(rehearsed).decode() if options["json"] else said)
            return
        password = options["password"] or secrets.token_urlsafe(15)
        with audit.command("bootstrap"):
            try:
                begun = bootstrapping.begin(
                    external_id=uuid4(),
                    workspace=options["workspace"],
                    email=options["email"],
                    password=password,
                    domain=options["domain"],
                )
            except DomainError as error:
                raise CommandError(error.detail) from error
        made = {
            "workspace_id": str(begun.workspace.id),
            "external_id": str(begun.workspace.external_id),
            "email": begun.owner.email,
            "machine_key": begun.machine_key,
        } | ({} if options["password"] else {"password": password})
        if options["json"]:
            self.stdout.write(orjson.dumps(made).decode())
            return
        for name, value in made.items():
            self.stdout.write(f"{name.replace('_', ' '):<14} {value}")
        self.stdout.write("Keep the key and the password: they are not shown again.")

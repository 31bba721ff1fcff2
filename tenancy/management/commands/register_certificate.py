"""Let a client certificate act for a workspace."""

from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services as audit
from kernel.errors import DomainError
from kernel.transactions import unit_of_work
from tenancy.queries import credentials
from tenancy.services import certificates


class Command(BaseCommand):
    help = (
        "Register a client certificate: exactly this one acts for the workspace, where a proxy of CLIENT_CERT_PROXIES hands "
        "it on. `manage.py revoke certificate` ends it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="its ref (ws_…), id or external id")
        parser.add_argument("--pem", type=Path, required=True, help="file with the one certificate")
        parser.add_argument("--name", required=True, help="what people call the program that has it")
        parser.add_argument("--scopes", required=True, help="permission names, with commas: email.read,thread.*")
        parser.add_argument("--dry-run", action="store_true", help="check, and register nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a sentence")

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        try:
            pem = options["pem"].read_text(encoding="ascii")
            with audit.command("register_certificate"):
                workspace = credentials.workspace_named(options["workspace"])
        except DomainError as error:
            raise CommandError(error.detail) from error
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['pem']} cannot be read as PEM: {error}") from error
        try:
            with audit.command("register_certificate"), unit_of_work():
                row = certificates.register(workspace_id=workspace.id, pem=pem, name=options["name"], scopes=scopes)
                if options["dry_run"]:
                    raise _Undo
        except _Undo:
            rehearsed = {"workspace_id": workspace.id, "dry_run": True}
            said = f"Would register it for {workspace.name}."
            self.stdout.write(orjson.dumps(rehearsed).decode() if options["json"] else said)
            return
        except DomainError as error:
            raise CommandError(error.detail) from error
        shown = {
            "id": row.id,
            "workspace_id": workspace.id,
            "fingerprint": bytes(row.fingerprint).hex(),
            "not_after": row.not_after,
        }
        if options["json"]:
            self.stdout.write(orjson.dumps(shown).decode())
        else:
            self.stdout.write(
                f"{row.subject} acts for {workspace.name} until {row.not_after:%Y-%m-%d}; its id is {row.id}."
            )


class _Undo(Exception):
    """Takes a rehearsal back."""

"""A machine token, for who has no identity provider."""

from datetime import timedelta
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services as audit
from kernel.errors import DomainError
from tenancy.queries import credentials
from tenancy.services import tokens


class Command(BaseCommand):
    help = (
        "Sign a token (JWT) with which a program acts for a workspace until it ends. The key is one of JWT_SIGNING_KEYS: "
        "the first, or the one that --kid names. The token is shown here and kept nowhere; `manage.py revoke token` ends it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="its ref (ws_…), id or external id")
        parser.add_argument("--scopes", required=True, help="permission names, with commas: email.read,thread.*")
        parser.add_argument("--ttl", type=int, default=3600, help="seconds until it ends; default 3600")
        parser.add_argument("--kid", default="", help="the key that signs")
        parser.add_argument(
            "--dry-run", action="store_true", help="check everything that can be checked, and sign nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of the bare token")

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        try:
            with audit.command("issue_token"):
                workspace = credentials.workspace_named(options["workspace"])
                wanted: dict[str, Any] = {
                    "workspace": workspace,
                    "scopes": scopes,
                    "lifetime": timedelta(seconds=options["ttl"]),
                    "kid": options["kid"],
                }
                if options["dry_run"]:
                    kid = tokens.check_issue(**wanted).kid
                    rehearsed = {
                        "kid": kid,
                        "workspace_id": workspace.id,
                        "scopes": sorted(set(scopes)),
                        "dry_run": True,
                    }
                    said = f"Would sign a token for {workspace.name} with the key {kid!r}."
                    self.stdout.write(orjson.dumps(rehearsed).decode() if options["json"] else said)
                    return
                signed = tokens.issue(**wanted)
        except DomainError as error:
            raise CommandError(error.detail) from error
        if not options["json"]:
            self.stdout.write(signed.text)
            return
        shown = {
            "token": signed.text,
            "jti": signed.jti,
            "kid": signed.kid,
            "workspace_id": workspace.id,
            "scopes": sorted(set(scopes)),
            "expires_at": signed.expires_at,
        }
        self.stdout.write(orjson.dumps(shown).decode())

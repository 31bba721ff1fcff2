"""End a credential of a machine, with effect at its next request, in every process."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from audit import services as audit
from kernel.context import ESTATE
from kernel.errors import DomainError, Invalid
from kernel.transactions import unit_of_work
from tenancy.queries import credentials
from tenancy.services import certificates, keys, tokens

Deed = Callable[[dict[str, Any]], dict[str, Any]]


class Command(BaseCommand):
    help = "Refuse a token, all tokens of a workspace or of a signing key, a machine key or a certificate from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        one = _kind(kinds, "token", "one token")
        one.add_argument("--jti", required=True, help="its jti")
        every = _kind(kinds, "tokens", "every token of a workspace that was issued before a time")
        every.add_argument("--issued-before", type=_moment, help="ISO 8601 with a zone; now, when not given")
        key = _kind(kinds, "machine-key", "a machine key")
        key.add_argument("--id", type=UUID, required=True, help="its id")
        key.add_argument("--with-issued", action="store_true", help="the keys that it issued, too, and theirs")
        cert = _kind(kinds, "certificate", "a certificate, registered or not", is_for_all=True)
        cert.add_argument("--pem", type=Path, help="file with it")
        cert.add_argument("--fingerprint", help="SHA-256 of its DER bytes, in hex")
        cert.add_argument("--serial", help="its serial number in hex, together with --issuer")
        cert.add_argument("--issuer", help="as RFC 4514 writes it: CN=Our CA,O=Acme")
        cert.add_argument("--reason", default="", help="why, for the trail")
        signing = _kind(kinds, "signing-key", "every token, of every workspace, that names a kid", is_for_all=None)
        signing.add_argument("--kid", required=True, help="the name of the key")
        signing.add_argument("--reason", default="", help="why, for the trail")

    def handle(self, *args: Any, **options: Any) -> None:
        deed = _DEEDS[options["kind"]]
        try:
            with audit.command("revoke"), unit_of_work():
                done = deed(options)
                if options["dry_run"]:
                    raise _Undo(done)
        except _Undo as undone:
            done = undone.done
        except DomainError as error:
            raise CommandError(error.detail) from error
        except OSError as error:
            raise CommandError(str(error)) from error
        shown = done | {"dry_run": options["dry_run"]}
        if options["json"]:
            self.stdout.write(orjson.dumps(shown, default=str).decode())
        else:
            named = ", ".join(f"{name} {value}" for name, value in done.items())
            self.stdout.write(f"{'Would be refused' if options['dry_run'] else 'Refused'} from now on: {named}.")


class _Undo(Exception):
    """Takes a rehearsal back."""

    def __init__(self, done: dict[str, Any]) -> None:
        super().__init__()
        self.done = done


def _kind(kinds: Any, name: str, text: str, *, is_for_all: bool | None = False) -> CommandParser:
    """A kind of credential; `is_for_all`: without a workspace it is for all of them (None: it is of none)."""
    parser: CommandParser = kinds.add_parser(name, help=f"refuse {text}")
    if is_for_all is not None:
        note = "; every workspace, when not given" if is_for_all else ""
        parser.add_argument(
            "--workspace", required=not is_for_all, default="", help=f"ref (ws_…), id or external id{note}"
        )
    parser.add_argument("--dry-run", action="store_true", help="say what would be refused, and change nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a sentence")
    return parser


def _place(options: dict[str, Any]) -> UUID:
    return credentials.workspace_named(options["workspace"]).id if options["workspace"] else ESTATE


def _token(options: dict[str, Any]) -> dict[str, Any]:
    return {"jti": tokens.revoke(workspace_id=_place(options), jti=options["jti"]).jti}


def _tokens(options: dict[str, Any]) -> dict[str, Any]:
    moment = tokens.revoke_issued_before(workspace_id=_place(options), moment=options["issued_before"])
    return {"issued_before": moment}


def _machine_key(options: dict[str, Any]) -> dict[str, Any]:
    ended = keys.revoke(workspace_id=_place(options), key_id=options["id"], with_issued=options["with_issued"])
    return {"machine_keys": [str(key_id) for key_id in ended]}


def _certificate(options: dict[str, Any]) -> dict[str, Any]:
    place: dict[str, Any] = {"workspace_id": _place(options), "reason": options["reason"]}
    if options["pem"]:
        row = certificates.deny_pem(pem=options["pem"].read_text(encoding="utf-8", errors="replace"), **place)
    elif options["fingerprint"]:
        row = certificates.deny(fingerprint=_fingerprint(options["fingerprint"]), **place)
    else:
        row = certificates.deny(serial=options["serial"] or "", issuer=options["issuer"] or "", **place)
    return {"fingerprint": bytes(row.fingerprint or b"").hex(), "serial": row.serial, "issuer": row.issuer}


def _fingerprint(text: str) -> bytes:
    """Hex, with the colons that openssl puts in or without."""
    try:
        return bytes.fromhex(text.replace(":", ""))
    except ValueError as error:
        raise Invalid("A fingerprint is a SHA-256: 64 hex digits.") from error


def _signing_key(options: dict[str, Any]) -> dict[str, Any]:
    return {"kid": tokens.revoke_key(kid=options["kid"], reason=options["reason"]).kid}


_DEEDS: dict[str, Deed] = {
    "token": _token,
    "tokens": _tokens,
    "machine-key": _machine_key,
    "certificate": _certificate,
    "signing-key": _signing_key,
}


def _moment(text: str) -> datetime:
    found = parse_datetime(text)
    if found is None or found.tzinfo is None:
        raise ValueError(text)
    return found

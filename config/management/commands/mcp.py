"""MCP over standard input and output, for an agent that starts its servers itself."""

import asyncio
import os
import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from rest_framework.exceptions import AuthenticationFailed

from config.mcp import server
from config.mcp.door import Caller

_VARIABLE = "INBOX_KEY"


class Command(BaseCommand):
    help = (
        "Speak the Model Context Protocol on standard input and output, as the principal whose machine key or token is in"
        f" {_VARIABLE} (or in the file that {_VARIABLE}_FILE or --key-file names). For HTTP use `manage.py up`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--key-file", type=Path, help="a file that holds the machine key or token")

    def handle(self, *args: Any, **options: Any) -> None:
        credential = _credential(options["key_file"])
        try:
            Caller.with_credential(credential, request_id=_fresh()).principal()
        except AuthenticationFailed as error:
            raise CommandError(str(error.detail)) from error

        def caller_of(_context: ServerRequestContext[Any, Any]) -> Caller:
            # A new id for each call; and the credential is looked up each time, so that it can be revoked.
            return Caller.with_credential(credential, request_id=_fresh())

        asyncio.run(_serve(server.build(caller_of)))


async def _serve(built: Any) -> None:
    async with stdio_server() as (read, write):
        await built.run(read, write, built.create_initialization_options())


def _credential(path: Path | None) -> str:
    """Never on the command line, where other users of the machine could read it."""
    named = path or (Path(os.environ[f"{_VARIABLE}_FILE"]) if f"{_VARIABLE}_FILE" in os.environ else None)
    try:
        found = named.read_text("utf-8") if named else os.environ.get(_VARIABLE, "")
    except OSError as error:
        raise CommandError(f"The key cannot be read: {error}") from error
    if not found.strip():
        raise CommandError(f"Put a machine key or token into {_VARIABLE}, or name a file that holds one: --key-file.")
    return found.strip()


def _fresh() -> str:
    return f"mcp-{uuid.uuid4().hex}"

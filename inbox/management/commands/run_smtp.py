"""The mail listener as a process of its own."""

import asyncio
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from inbox.channels import listener
from inbox.services import receiving


class Command(BaseCommand):
    help = "Take mail by SMTP (or LMTP) and store it. Stops on SIGTERM and Ctrl-C after the messages in hand."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.MAIL_LISTEN_HOST, help="address to listen on")
        parser.add_argument("--port", type=int, default=settings.MAIL_LISTEN_PORT, help="port to listen on")
        parser.add_argument(
            "--lmtp", action="store_true", default=settings.MAIL_LISTEN_LMTP, help="speak LMTP, for a mail server"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(self._serve(**{name: options[name] for name in ("host", "port", "lmtp")}))

    async def _serve(self, *, host: str, port: int, lmtp: bool) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        handler = listener.Handler(knows=receiving.knows, take=receiving.take)
        server = await listener.serve(host=host, port=port, lmtp=lmtp, handler=handler, limit=settings.MAIL_MAX_BYTES)
        self.stdout.write(f"{'LMTP' if lmtp else 'SMTP'} on {host}:{port}")
        self.stdout.flush()
        await stop.wait()
        server.close()
        # Sessions in hand finish their message before the process ends.
        pending = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if pending:
            await asyncio.wait(pending, timeout=10)

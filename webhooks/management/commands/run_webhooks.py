"""Send webhooks until told to stop."""

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from kernel import crypto
from webhooks.worker.dispatcher import Dispatcher


class Command(BaseCommand):
    help = (
        "Deliver webhooks: one process that claims due deliveries, sends them and records the answers. Several may run. "
        "SIGTERM or Ctrl-C finishes what is in flight (at most WEBHOOK_STOP_SECONDS) and exits with 0; after a kill, what "
        "was in flight is sent again when its lease ends (WEBHOOK_LEASE_SECONDS)."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        crypto.require_keys()
        asyncio.run(_serve())


async def _serve() -> None:
    dispatcher = Dispatcher()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, dispatcher.stop)
    await dispatcher.run()

"""Everything on one machine, until Ctrl-C."""

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config import ports, processes
from config.embedded.supervisor import Supervisor


class Command(BaseCommand):
    help = "Run web, worker, scheduler, webhook dispatcher, mail listener and MCP until Ctrl-C. `make up` adds the services."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address of the web server")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")), help="its port")

    def handle(self, *args: Any, **options: Any) -> None:
        port = ports.choose(options["port"], host=options["host"])
        mcp_port = ports.choose(settings.MCP_PORT, host=options["host"])
        mail_port = ports.choose(settings.MAIL_LISTEN_PORT, host=settings.MAIL_LISTEN_HOST)
        os.environ.setdefault("PUBLIC_URL", f"http://{options['host']}:{port}")
        children = processes.everything(
            host=options["host"],
            port=port,
            mcp_port=mcp_port,
            mail_host=settings.MAIL_LISTEN_HOST,
            mail_port=mail_port,
        )
        with Supervisor(children, logs=settings.BASE_DIR / "var" / "log", terminal=sys.stdout) as supervisor:
            self.stdout.write(f"Console  http://{options['host']}:{port}/console/")
            self.stdout.write(f"API      http://{options['host']}:{port}/api/docs")
            self.stdout.write(f"MCP      http://{options['host']}:{mcp_port}/mcp")
            self.stdout.write(f"SMTP     {settings.MAIL_LISTEN_HOST}:{mail_port}")
            self.stdout.write("No owner yet? Run `manage.py bootstrap` in another terminal. Stop with Ctrl-C.")
            self.stdout.flush()
            supervisor.wait()

"""The processes of an installation on one machine; compose.yaml runs the same commands, one in each container."""

import os
import sys
from pathlib import Path

from django.conf import settings

from config.embedded.supervisor import Child

_BIN = Path(sys.executable).parent
# What has begun to send finishes it: longer than SEND_DEADLINE_SECONDS, as in compose.yaml.
_GRACE = 60.0


def web(*, host: str, port: int) -> Child:
    """The console, the API and the ingress."""
    argv = [
        str(_BIN / "granian"),
        "--interface",
        "wsgi",
        "config.wsgi:application",
        "--host",
        host,
        "--port",
        str(port),
    ]
    # Processes of the web server, and threads in each.
    argv += ["--workers", os.environ.get("WEB_WORKERS", "1"), "--blocking-threads", os.environ.get("WEB_THREADS", "4")]
    return Child(name="web", argv=[*argv, "--no-ws", "--log-level", "warning"])


def outside_agents(*, host: str, port: int) -> Child:
    """MCP for agents of others. Its protocol needs an event loop, which the web server's threads are not."""
    argv = [str(_BIN / "granian"), "--interface", "asgi", "config.mcp.asgi:application", "--host", host]
    return Child(name="mcp", argv=[*argv, "--port", str(port), "--no-ws", "--log-level", "warning"])


def worker() -> Child:
    """Celery: ingest, sending, agents, outbox."""
    argv = [
        str(_BIN / "celery"),
        "-A",
        "config",
        "worker",
        "--loglevel",
        "WARNING",
        "--without-mingle",
        "--without-gossip",
    ]
    # Tasks at the same time.
    threads = os.environ.get("WORKER_THREADS", "4")
    return Child(name="worker", argv=[*argv, "--pool", "threads", "--concurrency", threads], grace=_GRACE)


def beat() -> Child:
    """Celery's scheduler. A second one does no harm: each job is sent once for each slot of time."""
    return Child(name="beat", argv=[str(_BIN / "celery"), "-A", "config", "beat", "--loglevel", "WARNING"])


def dispatcher() -> Child:
    """Webhook deliveries."""
    return Child(name="webhooks", argv=[sys.executable, "manage.py", "run_webhooks"], grace=_GRACE)


def listener(*, host: str, port: int) -> Child:
    """Mail by SMTP."""
    argv = [sys.executable, "manage.py", "run_smtp", "--host", host, "--port", str(port)]
    return Child(name="smtp", argv=argv)


def everything(*, host: str, port: int, mcp_port: int, mail_host: str, mail_port: int) -> list[Child]:
    """All of them, in the order in which they should start."""
    (settings.BASE_DIR / "var").mkdir(exist_ok=True)
    return [
        web(host=host, port=port),
        worker(),
        beat(),
        dispatcher(),
        listener(host=mail_host, port=mail_port),
        outside_agents(host=host, port=mcp_port),
    ]

"""The main job on a machine that has nothing: real mail in, agents at work, replies out, webhooks verified."""

import os
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import orjson
import urllib3
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.live import Live
from rich.table import Table

from config import ports, processes
from config.demo import delivery, outcome, scenario
from config.demo.amazon import Topic
from config.demo.outcome import Outcome
from config.demo.receiver import Receiver
from config.demo.sink import Sink
from config.embedded.supervisor import Child, Supervisor
from kernel import clock
from kernel.errors import DomainError

_TOPIC = "arn:aws:sns:eu-central-1:123456789012:demo-inbound-mail"
_PATIENCE = 180
_COLOURS = {"handled": "green", "waiting_approval": "yellow", "quarantined": "red", "ignored": "bright_black"}


class Command(BaseCommand):
    help = "Show the product at work on the mails of samples/mail. With --once it ends by itself, with a line of JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop when every mail has come to rest")
        parser.add_argument("--folder", type=Path, help="for the sign-in (demo.json) and the logs; default var/")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")), help="of the console")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        console = Console(file=sys.stdout, force_terminal=None if sys.stdout.isatty() else False, width=_width())
        with ExitStack() as stack:
            folder = options["folder"] or settings.BASE_DIR / "var"
            stage = _set_up(stack, port=ports.choose(options["port"]), folder=folder)
            console.print("Starting web, worker, scheduler, dispatcher and mail listener …")
            supervisor = stack.enter_context(Supervisor(stage.children(), logs=folder / "log"))
            _wait_until_up(stage.port, stage.mail_port)
            final = _perform(stage, console)
            console.print(_table(final))
            counts = _counted(final, stage, started)
            if options["once"]:
                supervisor.stop()
                self.stdout.write(orjson.dumps(counts).decode())
                if counts["lost"] or counts["doubled"] or final.waiting:
                    raise CommandError("The run did not come out clean: " + ", ".join(final.waiting or ["see above"]))
                return
            _invite(console, stage, counts)
            supervisor.wait()


@dataclass(frozen=True)
class _Stage:
    """The demo's surroundings: the outside world that it brings along, and where its own processes listen."""

    # Before the set-up, whose own facts are delivered, too.
    since: datetime
    sink: Sink
    receiver: Receiver
    topic: Topic
    scene: scenario.Scene
    port: int
    mail_port: int
    mcp_port: int

    def children(self) -> list[Child]:
        return processes.everything(
            host="127.0.0.1",
            port=self.port,
            mcp_port=self.mcp_port,
            mail_host="127.0.0.1",
            mail_port=self.mail_port,
        )


def _set_up(stack: ExitStack, *, port: int, folder: Path) -> _Stage:
    """The local mail server and webhook endpoint, and what the API would have set up."""
    since = clock.now()
    folder.mkdir(exist_ok=True)
    scratch = Path(stack.enter_context(TemporaryDirectory(prefix="inbox-demo-")))
    sink = stack.enter_context(Sink())
    receiver = stack.enter_context(Receiver())
    topic = Topic(_TOPIC, scratch / "sns.pem")
    _point_children_at(sink=sink.port, topic=topic, port=port)
    try:
        scene = scenario.prepare(hook=receiver.url, state=folder / "demo.json")
    except DomainError as error:
        raise CommandError(error.detail) from error
    receiver.inbox.secret = scene.webhook_secret
    mail_port, mcp_port = ports.choose(settings.MAIL_LISTEN_PORT), ports.choose(settings.MCP_PORT)
    return _Stage(since, sink, receiver, topic, scene, port, mail_port, mcp_port)


def _perform(stage: _Stage, console: Console) -> Outcome:
    """Hand the mails in and watch until they have come to rest."""
    deliveries = delivery.samples(settings.BASE_DIR / "samples" / "mail", run=uuid4().hex[:8])
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        _hand_in(deliveries, topic=stage.topic, port=stage.port, mail_port=stage.mail_port)
        return _watch(deliveries, stage.since, live)


def _width() -> int | None:
    return None if sys.stdout.isatty() else 150


def _point_children_at(*, sink: int, topic: Topic, port: int) -> None:
    """The processes started below read these. The demo's own addresses are the only private ones that they may call."""
    os.environ.update(
        MAIL_TRANSPORT="smtp",
        MAIL_SMTP_HOST="127.0.0.1",
        MAIL_SMTP_PORT=str(sink),
        MAIL_SMTP_TLS="none",
        SNS_TOPIC_ARNS=topic.arn,
        SNS_CERTIFICATE_FILE=str(topic.certificate),
        OUTBOUND_ALLOW_HTTP="true",
        OUTBOUND_ALLOWED_NETWORKS="127.0.0.1/32",
        AUTO_REPLY_SENDER_PER_HOUR="100",
        PUBLIC_URL=f"http://127.0.0.1:{port}",
    )
    # The set-up runs in this process and obeys the same settings.
    settings.OUTBOUND_ALLOW_HTTP = True
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]


def _wait_until_up(port: int, mail_port: int) -> None:
    import socket

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib3.request("GET", f"http://127.0.0.1:{port}/healthz", timeout=1, retries=False)
            socket.create_connection(("127.0.0.1", mail_port), timeout=1).close()
        except (urllib3.exceptions.HTTPError, OSError):
            time.sleep(0.1)
        else:
            return
    raise CommandError("The processes did not come up within a minute. Look into var/log/.")


def _hand_in(deliveries: list[delivery.Sample], *, topic: Topic, port: int, mail_port: int) -> None:
    for index, sample in enumerate(deliveries):
        if sample.way == "SMTP":
            delivery.by_smtp(sample, port=mail_port)
        else:
            version = "1" if index % 4 == 1 else "2"
            delivery.by_sns(sample, topic=topic, url=f"http://127.0.0.1:{port}/ingress/ses", version=version)


def _watch(deliveries: list[delivery.Sample], since: datetime, live: Live) -> Outcome:
    """Look until everything has come to rest (twice in a row), or patience ends."""
    deadline, calm = time.monotonic() + _PATIENCE, 0
    while True:
        now = outcome.read(deliveries, since=since)
        live.update(_table(now))
        calm = 0 if now.waiting else calm + 1
        if calm >= 2 or time.monotonic() > deadline:
            return now
        time.sleep(0.3)


def _table(found: Outcome) -> Table:
    table = Table(title="What became of each mail", title_justify="left", expand=False)
    for name in ("mail", "by", "class", "thread", "state", "why"):
        table.add_column(name, overflow="fold", no_wrap=name != "why")
    for line in found.lines:
        colour = _COLOURS.get(line.state, "")
        state = f"[{colour}]{line.state}[/]" if colour else line.state
        table.add_row(Path(line.file).stem, line.way, line.mail_class, line.thread, state, line.why)
    return table


def _counted(found: Outcome, stage: _Stage, started: float) -> dict[str, Any]:
    """The counts, with what the two outside witnesses saw."""
    counts = dict(found.counts)
    # Nothing may leave twice, by the word of who received it.
    counts["doubled"] += sum(times - 1 for times in stage.sink.ledger.by_id().values())
    counts["webhooks_verified"] = len(stage.receiver.inbox.verified)
    counts["seconds"] = round(time.monotonic() - started, 1)
    order = (
        "received", "entries", "threads", "agent_runs", "replies_sent", "approvals_waiting", "quarantined", "ignored",
        "duplicates", "webhooks_delivered", "webhooks_verified", "lost", "doubled", "seconds",
    )  # fmt: skip
    return {name: counts[name] for name in order}


def _invite(console: Console, stage: _Stage, counts: dict[str, Any]) -> None:
    console.print(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counts.items()))
    console.print()
    console.print(f"Console   http://127.0.0.1:{stage.port}/console/")
    console.print(f"Sign in   {scenario.OWNER}  {stage.scene.password}")
    console.print(f"API       http://127.0.0.1:{stage.port}/api/docs   key {stage.scene.machine_key}")
    console.print(f"MCP       http://127.0.0.1:{stage.mcp_port}/mcp")
    console.print(f"SMTP      127.0.0.1:{stage.mail_port} for support@acme.test and billing@acme.test")
    console.print("Stop with Ctrl-C.")

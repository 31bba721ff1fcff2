"""Row 7: events from the outbox to delivered webhooks, in one process, beside what a bare client and a plain loop do.

`measure` needs Django and a migrated database that it may fill. `python -m tests.bench.rows.webhooks` makes a database
of its own on the server of DATABASE_OWNER_URL, and drops it.
"""

import asyncio
import hmac
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from statistics import median
from typing import Any, ClassVar
from uuid import UUID

# Enough that the way of the first batch, from its drain to its answer, does not weigh: what is compared is a rate.
DELIVERIES = 12_000
ENDPOINTS = 20
# How many endpoints of its workspace want an event; 1 is the hardest case, for every delivery then pays for an event.
FAN_OUT = int(os.environ.get("FAN_OUT", "1"))
REFERENCE_EVENTS = 200
CONCURRENCY = 64


class Sink(asyncio.Protocol):
    """The cheapest receiver there is: finds the end of each request and answers 200."""

    ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"

    def connection_made(self, transport: Any) -> None:
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            head = self.held[:end].lower()
            at = head.index(b"content-length:") + 15
            size = int(head[at : head.find(b"\r", at) if b"\r" in head[at:] else len(head)])
            if len(self.held) < end + 4 + size:
                return
            self.held = self.held[end + 4 + size :]
            self.transport.write(self.ANSWER)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def sink() -> Iterator[str]:
    """A receiver in a process of its own; its address."""
    process = subprocess.Popen([sys.executable, "-m", __spec__.name, "--sink"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class World:
    """Workspaces with FAN_OUT endpoints each."""

    base: str
    owners: list[UUID]


def _prepare(base: str) -> World:
    from tenancy.services import provisioning
    from webhooks.services import subscribing

    _event_class()
    owners = []
    for number in range(ENDPOINTS):
        if number % FAN_OUT == 0:
            workspace, _ = provisioning.provision(external_id=uuid.uuid4(), name=f"Bench {number}")
            owners.append(workspace.id)
        subscribing.create(workspace_id=owners[-1], url=f"{base}/hook/{number}", slugs=["bench.*"])
    _drain_all()
    return World(base, owners)


@cache
def _event_class() -> Any:
    """A public fact; declared when it is needed, so that importing this module adds nothing to the catalogue."""
    from kernel.events import DomainEvent

    @dataclass(frozen=True, kw_only=True)
    class Happened(DomainEvent):
        """A fact of the size that facts have here."""

        slug: ClassVar[str] = "bench.happened"
        public: ClassVar[bool] = True
        aggregate: ClassVar[str] = "thread_id"
        thread_id: UUID
        inbox_id: UUID
        email_id: UUID
        contact_id: UUID
        mail_class: str = "human"

    return Happened


def _emit(world: World, count: int) -> None:
    """Put facts into the outbox; not part of what is measured."""
    from kernel import outbox
    from kernel.transactions import in_all_workspaces

    happened = _event_class()
    with in_all_workspaces("bench"):
        for number in range(count):
            ids = {name: uuid.uuid4() for name in ("thread_id", "inbox_id", "email_id", "contact_id")}
            outbox.emit(happened(workspace_id=world.owners[number % len(world.owners)], **ids))


def _drain_all() -> None:
    from kernel import outbox

    while outbox.drain():
        pass


def _settle_database() -> None:
    """Statistics as autovacuum would keep them."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        for table in (
            "kernel_outboxevent",
            "webhooks_systemevent",
            "webhooks_webhookdelivery",
            "webhooks_webhookattempt",
        ):
            cursor.execute(f"VACUUM ANALYZE {table}")
    connections["owner"].close()


def _is_waiting() -> bool:
    """Whether a delivery is still to be made; one look into a partial index, which costs the process next to nothing."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET app.all_workspaces = 'on'")
        cursor.execute("SELECT EXISTS (SELECT 1 FROM webhooks_webhookdelivery WHERE status = 'pending')")
        return bool(cursor.fetchone()[0])


def ours(world: World, *, deliveries: int = DELIVERIES) -> float:
    """Deliveries a second: the drain in a thread, the dispatcher in the loop, one process."""
    from django.db import connections

    from webhooks.worker.dispatcher import Dispatcher

    _emit(world, deliveries // FAN_OUT)
    _settle_database()

    async def run() -> float:
        dispatcher = Dispatcher()
        working = asyncio.create_task(dispatcher.run())
        began = time.perf_counter()

        def drain_and_watch() -> None:
            _drain_all()
            while _is_waiting():
                time.sleep(0.02)
            connections.close_all()

        await asyncio.to_thread(drain_and_watch)
        seconds = time.perf_counter() - began
        dispatcher.stop()
        await working
        return deliveries // FAN_OUT * FAN_OUT / seconds

    return asyncio.run(run())


def raw(world: World, *, posts: int = DELIVERIES) -> float:
    """Posts a second of a bare aiohttp client with the same bytes."""
    import aiohttp

    body, headers = _sample()

    async def run() -> float:
        numbers = iter(range(posts))

        async def work(client: aiohttp.ClientSession) -> None:
            for number in numbers:
                url = f"{world.base}/hook/{number % ENDPOINTS}"
                async with client.post(url, data=body, headers=headers) as response:
                    await response.read()

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONCURRENCY)) as client:
            began = time.perf_counter()
            await asyncio.gather(*(work(client) for _ in range(CONCURRENCY)))
            return posts / (time.perf_counter() - began)

    return asyncio.run(run())


def reference(world: World, *, events: int = REFERENCE_EVENTS) -> float:
    """Deliveries a second of the usual relay: the ORM and one blocking request for each event."""
    import urllib3
    from django.db import transaction

    from kernel.models import OutboxEvent
    from kernel.transactions import in_all_workspaces
    from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery

    _emit(world, events // FAN_OUT)
    began = time.perf_counter()
    with in_all_workspaces("bench"):
        ids = list(OutboxEvent.objects.filter(published_at=None).order_by("id").values_list("id", flat=True))
    for pk in ids:
        with in_all_workspaces("bench"), transaction.atomic():
            event = OutboxEvent.objects.select_for_update().get(id=pk)
            data = {"id": str(event.event_id), "workspace_id": str(event.workspace_id), **event.payload}
            body = json.dumps({"type": event.slug, "timestamp": event.created_at.isoformat(), "data": data})
            fact = SystemEvent.objects.create(
                id=event.event_id, workspace_id=event.workspace_id, slug=event.slug, aggregate_key=event.aggregate_key,
                occurred_at=event.created_at, body=body,
            )  # fmt: skip
            for webhook in Webhook.objects.filter(workspace_id=event.workspace_id):
                delivery = WebhookDelivery.objects.create(
                    workspace_id=event.workspace_id, webhook=webhook, system_event=fact
                )
                mark = hmac.new(b"k" * 32, f"{fact.id}.{int(time.time())}.{body}".encode(), sha256).hexdigest()
                # As requests.post does: a new pool, hence a new connection, for each call.
                with urllib3.PoolManager() as pool:
                    answer = pool.request("POST", webhook.url, body=body, headers={"webhook-signature": mark})
                delivery.status, delivery.attempts, delivery.last_status_code = "delivered", 1, answer.status
                delivery.save()
                WebhookAttempt.objects.create(
                    workspace_id=event.workspace_id,
                    delivery=delivery,
                    number=1,
                    duration_ms=1,
                    status_code=answer.status,
                )
            OutboxEvent.objects.filter(id=pk).update(published_at=event.created_at)
    return events // FAN_OUT * FAN_OUT / (time.perf_counter() - began)


def _sample() -> tuple[bytes, dict[str, str]]:
    """The bytes and headers of one delivery."""
    from kernel import clock
    from kernel.transactions import in_all_workspaces
    from tenancy.models import Workspace
    from webhooks.services import dispatching
    from webhooks.transport import signing

    ids = {name: uuid.uuid4() for name in ("thread_id", "inbox_id", "email_id", "contact_id")}
    fact = _event_class()(workspace_id=uuid.uuid4(), **ids)
    with in_all_workspaces("bench"):
        made = dispatching.body(fact=fact, event_id=uuid.uuid4(), at=clock.now())
        body = Workspace.objects.values_list(made, flat=True)[:1].get().encode()
    headers = signing.headers(signers=[signing.Signer(b"k" * 32)], message_id=str(uuid.uuid4()), timestamp=1, body=body)
    return body, {"content-type": "application/json", **headers}


def measure(rounds: int = 3) -> dict[str, Any]:
    """Medians of interleaved rounds, and the two ratios that have a floor."""
    from django.conf import settings

    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, ["127.0.0.1/32"]
    figures: dict[str, list[float]] = {"ours": [], "raw": [], "reference": []}
    with sink() as base:
        world = _prepare(base)
        ours(world, deliveries=300)  # connections, plans and imports are warm
        for _ in range(rounds):
            figures["raw"].append(raw(world))
            figures["ours"].append(ours(world))
            figures["reference"].append(reference(world))
    middle = {name: median(values) for name, values in figures.items()}
    return {
        "row": "7",
        "deliveries": DELIVERIES,
        "endpoints": ENDPOINTS,
        "fan_out": FAN_OUT,
        "per_second": {name: round(value) for name, value in middle.items()},
        "rounds": {name: [round(value) for value in values] for name, values in figures.items()},
        "of_raw": round(middle["ours"] / middle["raw"], 2),
        "times_reference": round(middle["ours"] / middle["reference"], 1),
        "floor": {"of_raw": 0.4, "times_reference": 10},
        "goal": {"of_raw": 0.7, "times_reference": 20},
    }


@contextmanager
def scratch_database() -> Iterator[None]:
    """A migrated database that nobody else uses."""
    from urllib.parse import urlsplit, urlunsplit

    import psycopg
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    url = urlsplit(settings.DATABASE_OWNER_URL)
    name = f"bench_webhooks_{os.getpid()}"
    with psycopg.connect(urlunsplit(url), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    try:
        for alias in ("default", "owner"):
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = settings.DATABASES[alias]["NAME"] = name
        call_command("migrate", verbosity=0)
        yield
    finally:
        connections.close_all()
        with psycopg.connect(urlunsplit(url), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def main() -> None:
    if "--sink" in sys.argv:
        asyncio.run(_serve())
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    import django

    django.setup()
    with scratch_database():
        print(json.dumps(measure(rounds=int(os.environ.get("ROUNDS", "3"))), indent=2))


if __name__ == "__main__":
    main()

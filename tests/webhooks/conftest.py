"""What the tests of webhooks share: workspaces with keys, a receiver, and a dispatcher to run for a while."""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
from django.conf import settings as django_settings
from django.test import Client

from kernel import outbox
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.events import WorkspaceProvisioned
from tenancy.services import keys, provisioning
from tests.webhooks.receiver import Receiver
from webhooks.models import Webhook, WebhookDelivery
from webhooks.services import subscribing
from webhooks.worker.dispatcher import Dispatcher

SLUG = WorkspaceProvisioned.slug


@pytest.fixture(autouse=True)
def _short_delays(settings: Any) -> None:
    settings.WEBHOOK_POLL_SECONDS = 0.05
    settings.WEBHOOK_TIMEOUT_SECONDS = 1.0
    settings.WEBHOOK_LEASE_SECONDS = 5.0
    settings.WEBHOOK_STOP_SECONDS = 2.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def workspace(db: None) -> UUID:
    return new_workspace()


def new_workspace() -> UUID:
    """A workspace whose own founding is already past the outbox."""
    made, _ = provisioning.provision(external_id=uuid.uuid4(), name="Acme")
    drain()
    return made.id


def drain() -> None:
    while outbox.drain():
        pass


def emit(workspace_id: UUID, count: int = 1) -> None:
    """Publish that many facts, in their order."""
    with in_workspace(workspace_id):
        for number in range(count):
            outbox.emit(WorkspaceProvisioned(workspace_id=workspace_id, external_id=uuid.uuid4(), ref=f"n{number}"))
    drain()


def hook(workspace_id: UUID, url: str, slugs: list[str] | None = None, **fields: Any) -> Webhook:
    """A webhook whose own creation is already past the outbox."""
    made, _ = subscribing.create(workspace_id=workspace_id, url=url, slugs=slugs or [SLUG], **fields)
    drain()
    return made


def rows(**filters: Any) -> list[WebhookDelivery]:
    with in_all_workspaces("test"):
        return list(WebhookDelivery.objects.filter(**filters).order_by("created_at", "replay_no"))


def fresh(webhook: Webhook) -> Webhook:
    with in_all_workspaces("test"):
        return Webhook.with_deleted.get(id=webhook.id)


def is_settled() -> bool:
    """Nothing is in flight, and nothing is due."""
    with in_all_workspaces("test"):
        waiting = WebhookDelivery.objects.filter(status="pending")
        return not waiting.extra(where=["lease_until IS NOT NULL OR due_at <= now()"]).exists()


def as_owner(statement: str, *values: Any) -> None:
    """Change rows behind the back of the application: time that passes, say."""
    with psycopg.connect(django_settings.DATABASE_OWNER_URL_OF_TEST, autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        owner.execute(statement, values)


@pytest.fixture(autouse=True)
def _owner(settings: Any) -> None:
    import os

    settings.DATABASE_OWNER_URL_OF_TEST = os.environ.get("DATABASE_OWNER_URL", "")


def make_due() -> None:
    as_owner(
        "UPDATE webhooks_webhookdelivery SET due_at = now() - interval '1 second', lease_until = NULL"
        " WHERE status = 'pending'"
    )


class Running:
    """A dispatcher in a thread."""

    def __enter__(self) -> "Running":
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._dispatcher.stop)
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self._error:
            raise self._error

    def until(self, done: Callable[[], Any], seconds: float = 20) -> None:
        limit = time.monotonic() + seconds
        while not done():
            assert self._thread.is_alive(), self._error
            assert time.monotonic() < limit, "the dispatcher did not get there"
            time.sleep(0.03)

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._dispatcher = Dispatcher()
        self._ready.set()
        await self._dispatcher.run()


def dispatch(until: Callable[[], Any] = is_settled, seconds: float = 20) -> None:
    """Run a dispatcher until something holds."""
    with Running() as running:
        running.until(until, seconds)


class Api:
    """A caller with a machine key."""

    def __init__(self, workspace_id: UUID, *scopes: str) -> None:
        self.workspace_id = workspace_id
        _, secret = keys.issue(workspace_id=workspace_id, name="test", scopes=list(scopes or ("*",)))
        self._client = Client(headers={"authorization": f"Bearer {secret}"}, raise_request_exception=True)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        options: dict[str, Any] = {"headers": headers}
        if body is not None:
            options |= {"data": orjson.dumps(body), "content_type": "application/json"}
        return self._client.generic(method, f"/api/v1{path}", secure=True, **options)


@pytest.fixture
def api(workspace: UUID) -> Api:
    return Api(workspace)

"""The real API for the client, and both kinds of client as one to the tests."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from autonomous_inbox import AsyncClient, Client

from tenancy.services import keys
from tests.world.serving import serving


@pytest.fixture(scope="session")
def api(django_db_setup: None) -> Iterator[str]:
    """Its address."""
    with serving("wsgi", "config.wsgi:application") as address:
        yield address


@pytest.fixture(scope="session")
def strict_api(django_db_setup: None) -> Iterator[str]:
    """Another one, that grants three requests in two seconds."""
    limits = {"API_RATE_LIMIT": "3", "API_RATE_WINDOW_SECONDS": "2"}
    with serving("wsgi", "config.wsgi:application", **limits) as address:
        yield address


class Driver:
    """Makes clients of one kind, and waits for what they give."""

    def __init__(self, kind: type[Client] | type[AsyncClient], runner: asyncio.Runner) -> None:
        self.kind, self.runner = kind, runner

    def client(self, address: str, key: str, **options: Any) -> Any:
        return self.kind(address, key, **options)

    def key(self, workspace_id: UUID, *scopes: str) -> str:
        return keys.issue(workspace_id=workspace_id, name="Client", scopes=scopes or ["*"])[1]

    def do(self, given: Any) -> Any:
        """The result, awaited or not."""
        return self.runner.run(given) if inspect.isawaitable(given) else given

    def rows(self, pages: Any) -> list[Any]:
        """All rows of a list."""
        if hasattr(pages, "__iter__"):
            return list(pages)

        async def collect() -> list[Any]:
            return [row async for row in pages]

        return self.runner.run(collect())


@pytest.fixture(params=[Client, AsyncClient], ids=["sync", "async"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with asyncio.Runner() as runner:
        yield Driver(request.param, runner)

"""A told story, people who look at it, and a browser that must be there."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from tests.console import seed, story
from tests.console.seed import World
from tests.keeping import kept
from tests.world.serving import serving

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def world(db) -> World:
    """Workspace A in the middle of its day; its owner is nobody special in the installation."""
    told = kept("story", lambda: story.tell(seed.person("mika@lindgren.example", name="Mika Lindgren")))
    seed.beat()
    return told


@pytest.fixture
def other(world: World) -> World:
    """Workspace B, which must never see A."""
    return seed.workspace("Other Shop", seed.person("kim@other.example", name="Kim Other"), "other.example")


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def mika(world: World) -> Client:
    return signed_in(world.owner)


@pytest.fixture
def kim(other: World) -> Client:
    return signed_in(other.owner)


@pytest.fixture(scope="session")
def server(django_db_setup) -> Iterator[str]:
    """A real server on this worker's database, for all tests that want one: it keeps nothing between requests."""
    with serving() as address:
        yield address


@pytest.fixture
def console(server: str, world: World) -> str:
    """The server's address; the story is in its database."""
    return server


@pytest.fixture
def chromium(monkeypatch):
    """A headless browser. Without one the test fails: `bin/setup --browser` installs it."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("No Chromium on this machine: the console cannot be tested. Run bin/setup --browser.")
    # Playwright keeps a loop running in this thread; the rows that the test looks at are read here all the same.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()

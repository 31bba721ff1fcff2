"""A told story, people who look at it, and a browser that must be there."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from tests.console import seed, story
from tests.console.seed import World

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
def world(db, settings, tmp_path) -> World:
    """Workspace A in the middle of its day; its owner is nobody special in the installation."""
    settings.STORAGES["default"]["OPTIONS"]["location"] = tmp_path / "files"
    return story.tell(seed.person("mika@lindgren.example", name="Mika Lindgren"))


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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "config.wsgi:application"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--no-access-log", "--log-level", "error"],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test"},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address + "/healthz", process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def console(server: str, world: World) -> str:
    """The server's address; the story is in its database."""
    return server


def _wait_for(url: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the console's server ended while it was starting"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    pytest.fail("the console's server did not answer within a minute")


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

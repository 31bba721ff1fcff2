"""The real server of an application, as a process of its own on the database of this test worker."""

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import ports

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def serving(
    interface: str = "wsgi", application: str = "config.wsgi:application", *, threads: int = 4, **environment: str
) -> Iterator[str]:
    """Its address, once it answers; on its way out it has ended."""
    port = ports.choose(0)
    argv = [sys.executable, "-m", "granian", "--interface", interface, application, "--port", str(port)]
    argv += ["--blocking-threads", str(threads)] if interface == "wsgi" else []
    process = subprocess.Popen(
        [*argv, "--no-ws", "--no-access-log", "--log-level", "critical"],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test", "LOG_LEVEL": "WARNING"} | environment,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address + "/healthz", process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(url: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended while it was starting"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    pytest.fail("the server did not answer within a minute")

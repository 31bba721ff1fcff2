"""The real server of an application, as a process of its own on the database of this test worker."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def serving(interface: str, application: str, **environment: str) -> Iterator[str]:
    """Its address, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "granian", "--interface", interface, application, "--port", str(port)]
    process = subprocess.Popen(
        [*argv, "--no-ws", "--log-level", "error"],
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

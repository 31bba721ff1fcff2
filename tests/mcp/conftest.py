"""A real MCP server on this worker's database."""

import base64
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.mcp.outside import ROOT

SHARED = b"k" * 48


@pytest.fixture(scope="session")
def server(django_db_setup: None) -> Iterator[str]:
    """Its address. It keeps nothing between requests, so all tests share it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    jwk = {"kty": "oct", "k": base64.urlsafe_b64encode(SHARED).rstrip(b"=").decode(), "kid": "shared", "alg": "HS256"}
    argv = [sys.executable, "-m", "granian", "--interface", "asgi", "config.mcp.asgi:application", "--port", str(port)]
    process = subprocess.Popen(
        [*argv, "--no-ws", "--log-level", "error"],
        cwd=ROOT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "JWT_KEYS": json.dumps({"keys": [jwk]}),
            "LOG_LEVEL": "WARNING",
        },
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
        assert process.poll() is None, "the MCP server ended while it was starting"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    pytest.fail("the MCP server did not answer within a minute")

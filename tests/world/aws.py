"""The parts of AWS that moto plays, as a server on the loopback."""

from collections.abc import Iterator
from contextlib import contextmanager

import urllib3
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@contextmanager
def moto() -> Iterator[str]:
    """An empty account; its endpoint's address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    try:
        # An account outlives its servers within a process.
        urllib3.request("POST", f"{endpoint}/moto-api/reset")
        yield endpoint
    finally:
        server.stop()

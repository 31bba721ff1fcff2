"""A real MCP server on this worker's database."""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.world.serving import serving

SHARED = b"k" * 48


@pytest.fixture(scope="session")
def server(django_db_setup: None) -> Iterator[str]:
    """Its address. It keeps nothing between requests, so all tests share it."""
    jwk = {"kty": "oct", "k": base64.urlsafe_b64encode(SHARED).rstrip(b"=").decode(), "kid": "shared", "alg": "HS256"}
    with serving("asgi", "config.mcp.asgi:application", JWT_KEYS=json.dumps({"keys": [jwk]})) as address:
        yield address

"""One web server for the tests of a worker, that takes tokens of our keys, and certificates from 127.0.0.1."""

import json
import os
from collections.abc import Callable, Iterator

import psycopg
import pytest

from tenancy.services import refusing
from tests.tenancy import tokens
from tests.tenancy.serving import Server, served

PROXY = "127.0.0.1"
STRANGER = "127.0.0.9"
HEADER = "ClientCert"


def environment() -> dict[str, str]:
    return {
        "JWT_KEYS": json.dumps(tokens.documents()),
        "CLIENT_CERT_PROXIES": f"{PROXY}/32",
        "CLIENT_CERT_HEADER": HEADER,
    }


@pytest.fixture(scope="session")
def server(django_db_setup) -> Iterator[Server]:
    with served(**environment()) as (one,):
        yield one


@pytest.fixture(autouse=True)
def _fresh_limits() -> None:
    """What one test had refused must not keep the next one's out of the trail."""
    refusing.limits.forget()


@pytest.fixture
def owner_sql(db) -> Callable[[str], None]:
    """Statements as the owner of the schema: what a release or an operator may do, and the application may not."""

    def run(statements: str) -> None:
        with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
            owner.execute(statements)

    return run

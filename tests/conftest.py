"""Fixtures of the whole suite: a real database per worker, cloned from one migrated template; rows that commit.

Tests act as the runtime role, like the application. Because almost everything here commits (units of work, threads,
other processes), a test that uses `db` really commits, and the owner empties the tables it left rows in afterwards.
"""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connections
from psycopg.pq import TransactionStatus

from tests import emptying

pytest_plugins = ["tests.plugins.cases", "tests.plugins.order"]


def _own_redis() -> None:
    """A Redis database of each worker's own: wake-ups of one must not reach another's processes."""
    number = 1 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    url = urlunsplit(urlsplit(settings.REDIS_URL)._replace(path=f"/{number % 16}"))
    settings.REDIS_URL = settings.CELERY_BROKER_URL = os.environ["REDIS_URL"] = url
    from config.celery import app

    app.conf.broker_url = url


def _own_folders() -> None:
    """Files and audit anchors of tests lie apart from the application's."""
    folder = Path(tempfile.mkdtemp(prefix="inbox-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("FILES_ROOT", "ANCHOR_DIRECTORY"):
        os.environ[name] = str(folder / name.lower())
        setattr(settings, name, folder / name.lower())
    settings.STORAGES["default"]["OPTIONS"]["location"] = settings.FILES_ROOT


_own_redis()
_own_folders()
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What collecting made stays for the whole run: no collection of garbage looks through it, then or later, here or in a child."""
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def _owner_dsn(name: str) -> str:
    parts = urlsplit(settings.DATABASE_OWNER_URL)
    return urlunsplit(parts._replace(path=f"/{name}"))


def _server_database() -> str:
    return urlsplit(settings.DATABASE_OWNER_URL).path.lstrip("/")


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory, django_db_blocker) -> Iterator[str]:
    """One migrated database for all workers of a run; the last one to leave takes it away. A run that another run has
    begun may be lent that one's (tests/deep/test_mutants.py)."""
    from filelock import FileLock

    if "TEST_TEMPLATE" in os.environ:
        yield os.environ["TEST_TEMPLATE"]
        return

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:8]
    name = f"test_template_{run}"
    marker, lock = shared / "template.ready", FileLock(str(shared / "template.lock"))
    with lock:
        users = int(marker.read_text()) if marker.exists() else 0
        if not users:
            with psycopg.connect(_owner_dsn(_server_database()), autocommit=True) as admin:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}"')
                admin.execute(f'CREATE DATABASE "{name}"')
            _point_to(name)
            from django.core.management import call_command

            with django_db_blocker.unblock():
                call_command("migrate", verbosity=0)
                connections.close_all()
        marker.write_text(str(users + 1))
    yield name
    with lock:
        users = int(marker.read_text()) - 1
        marker.write_text(str(users))
        if not users:
            with psycopg.connect(_owner_dsn(_server_database()), autocommit=True) as admin:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _point_to(name: str) -> None:
    for alias in ("default", "owner"):
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name
        settings.DATABASES[alias]["NAME"] = name


@pytest.fixture(scope="session")
def django_db_setup(template_database: str, django_db_blocker) -> Iterator[None]:
    """This worker's database, a copy of the template."""
    name = f"{template_database}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    with django_db_blocker.unblock():
        with psycopg.connect(_owner_dsn(_server_database()), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}"')
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template_database}"')
        _point_to(name)
        url = urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}")
        # Child processes of tests (servers, workers, killed ones) work on this database too.
        os.environ["DATABASE_URL"] = urlunsplit(url)
        os.environ["DATABASE_OWNER_URL"] = _owner_dsn(name)
    yield
    emptying.leave()
    with django_db_blocker.unblock():
        connections.close_all()
        with psycopg.connect(_owner_dsn(_server_database()), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture
def db(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """A database in which things really commit; emptied by its owner afterwards."""
    from audit import worker
    from kernel.keys import ring

    with django_db_blocker.unblock():
        yield
        _let_go()
        emptying.empty()
        ring.forget()
        worker.forget()


transactional_db = db


def _let_go() -> None:
    """The next test may have this one's connection, which costs more to open than most tests do in it, unless it is spoilt."""
    connections["owner"].close()
    usual = connections["default"]
    if usual.connection and usual.connection.info.transaction_status == TransactionStatus.IDLE and usual.is_usable():
        with usual.cursor() as cursor:
            cursor.execute("RESET ALL; RESET ROLE")
        usual.ensure_timezone()
    else:
        usual.close()


@pytest.fixture
def no_keys(db: None) -> None:
    """Begin without the key that every other test's database knows: for tests that bring keys of their own."""
    from kernel.keys import ring

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("TRUNCATE kernel_encryptionkey CASCADE")
    ring.forget()


@pytest.fixture(autouse=True)
def _clean_redis() -> None:
    """Wake-ups of one test must not reach the next."""
    from kernel import nudge, rates

    nudge.client().flushdb()
    rates.begin_again()

"""Fixtures of the whole suite: a real database per worker, cloned from one migrated template; rows that commit.

Tests act as the runtime role, like the application. Because almost everything here commits (units of work, threads,
other processes), a test that uses `db` really commits, and the owner empties the tables it left rows in afterwards.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connections

from kernel import envelope

pytest_plugins = ["tests.plugins.cases"]

KEEP = {"django_migrations", "django_content_type", "auth_permission", "tenancy_installation"}


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


def _owner_dsn(name: str) -> str:
    parts = urlsplit(settings.DATABASE_OWNER_URL)
    return urlunsplit(parts._replace(path=f"/{name}"))


def _server_database() -> str:
    return urlsplit(settings.DATABASE_OWNER_URL).path.lstrip("/")


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory, django_db_blocker) -> Iterator[str]:
    """One migrated database for all workers of a run; the last one to leave takes it away."""
    from filelock import FileLock

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
    with django_db_blocker.unblock():
        connections.close_all()
        with psycopg.connect(_owner_dsn(_server_database()), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture
def db(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """A database in which things really commit; emptied by its owner afterwards."""
    from kernel.keys import ring

    with django_db_blocker.unblock():
        yield
        connections.close_all()
        _empty()
        ring.forget()


transactional_db = db


@pytest.fixture
def no_keys(db: None) -> None:
    """Begin without the key that every other test's database knows: for tests that bring keys of their own."""
    from kernel.keys import ring

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("TRUNCATE kernel_encryptionkey CASCADE")
    ring.forget()


def _empty() -> None:
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SET app.allow_truncate = 'on'")
        owner.execute("SET app.all_workspaces = 'on'")
        owner.execute("SET synchronous_commit = 'off'")
        names = [row[0] for row in owner.execute(_dirty_tables(owner))]
        if names:
            owner.execute(f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE")
        _reseed(owner)


@cache
def _tables(database: str) -> list[str]:
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        rows = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [row[0] for row in rows if row[0] not in KEEP | {"tenancy_workspace"}]


def _dirty_tables(owner: psycopg.Connection) -> str:
    """One statement that names the tables with rows: most tests touch few of them."""
    names = [name for name in _tables(owner.info.dbname) if name != "kernel_encryptionkey" or _has_other_keys(owner)]
    return " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in names)


# The version that seals by the settings as they are for most tests, and its check value.
_SEALING = max(settings.ENCRYPTION_KEYS)
_USUAL_KEY = (_SEALING, envelope.check_value(settings.ENCRYPTION_KEYS[_SEALING]))


def _has_other_keys(owner: psycopg.Connection) -> bool:
    """Servers that live longer than one test know the usual key as written down; it stays while no test has another."""
    rows = owner.execute("SELECT version, check_value FROM kernel_encryptionkey").fetchall()
    return rows != [_USUAL_KEY]


def _reseed(owner: psycopg.Connection) -> None:
    """What the migrations seed must be there for the next test, also where CASCADE reached it."""
    import importlib

    owner.execute(
        "INSERT INTO kernel_encryptionkey (version, check_value, provider) VALUES (%s, %s, 'environment')"
        " ON CONFLICT DO NOTHING",
        _USUAL_KEY,
    )
    owner.execute("UPDATE tenancy_installation SET owner_id = NULL, owned_at = NULL")
    seed = importlib.import_module("tenancy.migrations.0003_installation")
    owner.execute("DELETE FROM tenancy_workspace WHERE id <> %s", [seed.ESTATE])
    with owner.transaction():
        owner.execute(seed.SEED)


@pytest.fixture(autouse=True)
def _clean_redis() -> None:
    """Wake-ups of one test must not reach the next."""
    from kernel import nudge, rates

    nudge.client().flushdb()
    rates.begin_again()

"""Databases for one run: a migrated template, copies of it for the rows, empty ones for the peers. All are dropped."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections


def owner_url(name: str) -> str:
    """The owner's address of a database of this server."""
    return urlunsplit(urlsplit(str(settings.DATABASE_OWNER_URL))._replace(path=f"/{name}"))


def runtime_url(name: str) -> str:
    """The application's address of a database of this server."""
    return urlunsplit(urlsplit(str(settings.DATABASE_URL))._replace(path=f"/{name}"))


def libpq(url: str) -> dict[str, str]:
    """The same as the environment of PostgreSQL's own programs: no password on a command line."""
    parts = urlsplit(url)
    found = {
        "PGHOST": parts.hostname,
        "PGPORT": str(parts.port or 5432),
        "PGUSER": parts.username,
        "PGPASSWORD": parts.password,
        "PGDATABASE": parts.path.lstrip("/"),
    }
    return {name: value for name, value in found.items() if value}


class Scratch:
    """Makes databases under one prefix, which also names what an interrupted run left behind."""

    def __init__(self) -> None:
        self._prefix = f"bench_{os.getpid()}"
        self._home = urlsplit(settings.DATABASE_OWNER_URL).path.lstrip("/")

    @contextmanager
    def template(self) -> Iterator[None]:
        """The migrated database that `copy` copies."""
        with self.empty("template") as name:
            with pointing_to(name):
                call_command("migrate", verbosity=0)
            yield

    @contextmanager
    def copy(self, label: str, *, of: str = "template") -> Iterator[str]:
        """A copy of the migrated database, or of the one with the label `of`, which Django here and in child processes
        uses inside the block."""
        with self._made(label, f'TEMPLATE "{self._prefix}_{of}" STRATEGY FILE_COPY') as name, pointing_to(name):
            yield name

    @contextmanager
    def empty(self, label: str) -> Iterator[str]:
        """A database without tables; its name."""
        with self._made(label, "") as name:
            yield name

    @contextmanager
    def _made(self, label: str, options: str) -> Iterator[str]:
        name = f"{self._prefix}_{label}"
        # A database that somebody is connected to cannot be copied.
        connections.close_all()
        self._admin(f'CREATE DATABASE "{name}" {options}')
        try:
            yield name
        finally:
            connections.close_all()
            self._admin(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _admin(self, statement: str) -> None:
        with psycopg.connect(owner_url(self._home), autocommit=True) as admin:
            admin.execute(statement.encode())


@contextmanager
def as_owner(name: str) -> Iterator[psycopg.Connection]:
    """The owner's connection, with every workspace in sight."""
    with psycopg.connect(owner_url(name), autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        yield owner


@contextmanager
def pointing_to(name: str) -> Iterator[None]:
    """Django here and in child processes uses this database inside the block."""
    variables = {key: os.environ.get(key) for key in ("DATABASE_URL", "DATABASE_OWNER_URL")}
    before = {alias: settings.DATABASES[alias]["NAME"] for alias in ("default", "owner")}
    _point(dict.fromkeys(before, name))
    os.environ.update(DATABASE_URL=runtime_url(name), DATABASE_OWNER_URL=owner_url(name))
    try:
        yield
    finally:
        _point(before)
        os.environ.update({key: value for key, value in variables.items() if value is not None})


def _point(names: dict[str, str]) -> None:
    for alias, name in names.items():
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = settings.DATABASES[alias]["NAME"] = name

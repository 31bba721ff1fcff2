"""What a test left in this worker's database is taken away by its owner, who stays connected from one test to the next.

A test leaves a few rows in some thirty tables, and deleting them takes a tenth of the time of TRUNCATE. That makes new files
for each table and for each that could refer to it, and every connection must then learn of all of them anew.
"""

import importlib
import os
from functools import cache

import psycopg
from django.conf import settings

from kernel import envelope

SEED = importlib.import_module("tenancy.migrations.0003_installation")
# Tables whose rows, or some of them, the migrations made.
KEEP = {
    "django_migrations", "django_content_type", "auth_permission", "tenancy_installation", "tenancy_permission",
    "tenancy_workspace",
}  # fmt: skip
# The version that seals by the settings as they are for most tests, and its check value: servers that live longer than one
# test know it as written down, so it stays while no test has another.
SEALING = max(settings.ENCRYPTION_KEYS)
KEY = f"({SEALING}, '\\x{envelope.check_value(settings.ENCRYPTION_KEYS[SEALING]).hex()}'::bytea"
# Beyond so many rows in one table, looking for what refers to each of them costs more than TRUNCATE.
FEW = 500

# A trigger: its table, its name, and the mode in which it is on.
Guard = tuple[str, str, str]

_owners: dict[str, psycopg.Connection] = {}


def empty() -> None:
    """Leave nothing but the rows that the migrations made."""
    try:
        _empty(owner())
    except psycopg.OperationalError:  # the test has ended our session too, or somebody waited for us and we for him
        leave()
        _empty(owner())


def dirty() -> list[str]:
    """The tables that have rows of a test."""
    return list(_rows(owner()))


def leave() -> None:
    """Close the owner's connection."""
    while _owners:
        _owners.popitem()[1].close()


def owner() -> psycopg.Connection:
    """The owner's session, which lasts until a test ends it."""
    url = os.environ["DATABASE_OWNER_URL"]
    if url not in _owners:
        leave()
        _owners[url] = psycopg.connect(url, autocommit=True)
        _owners[url].execute("SET app.allow_truncate = 'on'")
        _owners[url].execute("SET app.all_workspaces = 'on'")
        _owners[url].execute("SET synchronous_commit = 'off'")
        _owners[url].execute(_counting(_tables(url)[0]))
    return _owners[url]


def _empty(session: psycopg.Connection) -> None:
    """Whoever still writes, a killed process' session say, is waited for and then kept out until nothing is left."""
    tables, guards = _tables(os.environ["DATABASE_OWNER_URL"])
    with session.transaction():
        session.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE")
        rows = _rows(session)
        has_many = max(rows.values(), default=0) > FEW
        emptied = [f"TRUNCATE {', '.join(rows)} CASCADE"] if has_many else _delete(list(rows), guards)
        session.execute("; ".join([*emptied, *_reseed()]))


def _delete(dirty: list[str], guards: list[Guard]) -> list[str]:
    """Keys are looked at when all rows are gone, in whichever order; triggers that may refuse DELETE are away meanwhile."""
    met = [guard for guard in guards if guard[0] in dirty]
    return [
        "SET CONSTRAINTS ALL DEFERRED",
        *(f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name, _ in met),
        # What is sealed names its key, at once.
        *(f"DELETE FROM {name}" for name in sorted(dirty, key="kernel_encryptionkey".__eq__)),
        "SET CONSTRAINTS ALL IMMEDIATE",
        *(f"ALTER TABLE {table} ENABLE {mode} TRIGGER {name}" for table, name, mode in met),
    ]


def _reseed() -> list[str]:
    """The next test finds the rows of the migrations, also where CASCADE reached them."""
    return [
        f"DELETE FROM tenancy_workspace WHERE id <> '{SEED.ESTATE}'",
        f"INSERT INTO kernel_encryptionkey (version, check_value, provider) VALUES {KEY}, 'environment')"
        " ON CONFLICT DO NOTHING",
        "UPDATE tenancy_installation SET owner_id = NULL, owned_at = NULL WHERE owned_at IS NOT NULL",
        SEED.SEED,
    ]


@cache
def _tables(url: str) -> tuple[list[str], list[Guard]]:
    """All tables that tests write to, and the triggers that run when a row is deleted."""
    names = _owners[url].execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    guards = _owners[url].execute(
        "SELECT tgrelid::regclass::text, tgname::text, CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE '' END FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgtype & 8 <> 0"
    )
    return [name for (name,) in names if name not in KEEP], guards.fetchall()


def _rows(session: psycopg.Connection) -> dict[str, int]:
    """The tables that have rows, and how many up to a few."""
    return dict(session.execute("SELECT name, number FROM pg_temp.rows_of_tests()").fetchall())


def _counting(tables: list[str]) -> str:
    """A function with a statement for each table: what is changed in one of them spoils the plan of that one alone."""
    counts = (
        f"number := (SELECT count(*) FROM (SELECT FROM {table} {_but_the_usual(table)} LIMIT {FEW + 1}) AS found);"
        f" IF number > 0 THEN name := '{table}'; RETURN NEXT; END IF;"
        for table in tables
    )
    return (
        "CREATE FUNCTION pg_temp.rows_of_tests() RETURNS TABLE (name text, number bigint) LANGUAGE plpgsql AS"
        f" $$ BEGIN {' '.join(counts)} END $$"
    )


def _but_the_usual(table: str) -> str:
    return f"WHERE (version, check_value) <> {KEY})" if table == "kernel_encryptionkey" else ""

"""The roles, databases and extensions of a new cluster.

Three roles, so that no code has more power than its task needs:

    inbox_owner    owns the tables and migrates them; may create (test) databases, is no superuser
    inbox_runtime  what the application connects as; subject to row-level security, owns nothing
    inbox_audit    owns what even the owner should not touch by accident; nobody logs in as it

What only a superuser may do, above all CREATE EXTENSION vector, is done here in `template1` as well, so that a
database the owner creates later has it too. All of it may be run again: a start that was interrupted half-way
is simply finished by the next.
"""

import psycopg
from psycopg import sql

from config.embedded.processes import HOST
from config.embedded.state import State

VERSION = 1
SUPERUSER = "postgres"
OWNER = "inbox_owner"
RUNTIME = "inbox_runtime"
DATABASE = "inbox"

_ROLES = {
    "inbox_audit": "NOLOGIN",
    RUNTIME: "LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE",
    OWNER: "LOGIN NOSUPERUSER NOBYPASSRLS CREATEDB CREATEROLE",
}
# The owner hands tables and functions over to inbox_audit, which needs SET on the role here and, of the role,
# CREATE on the schema.
_MEMBERSHIPS = "GRANT inbox_audit, inbox_runtime TO inbox_owner WITH ADMIN TRUE, INHERIT TRUE, SET TRUE"
_IN_EACH_DATABASE = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE EXTENSION IF NOT EXISTS btree_gin",
    "ALTER SCHEMA public OWNER TO inbox_owner",
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    "GRANT USAGE, CREATE ON SCHEMA public TO inbox_audit",
)


def connect(state: State, database: str) -> psycopg.Connection:
    """A superuser's connection. Explicit about TLS, lest the caller's PGSSLMODE decide."""
    return psycopg.connect(
        host=HOST,
        hostaddr=HOST,
        port=state.port,
        user=SUPERUSER,
        password=state.secret(SUPERUSER),
        dbname=database,
        sslmode="disable",
        connect_timeout=2,
        autocommit=True,
    )


def prepare(state: State) -> None:
    """Bring a running cluster to VERSION."""
    with connect(state, "postgres") as connection:
        for role, attributes in _ROLES.items():
            _create_role(connection, role, attributes)
        for role in (OWNER, RUNTIME):
            password = sql.Literal(state.secret(role))
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), password))
        connection.execute(_MEMBERSHIPS)
    _furnish(state, "template1")
    with connect(state, "postgres") as connection:
        if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
    _furnish(state, DATABASE)
    state.prepared = VERSION


def _create_role(connection: psycopg.Connection, role: str, attributes: str) -> None:
    if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        connection.execute(f"CREATE ROLE {role} {attributes}".encode())


def _exists(connection: psycopg.Connection, query: str, name: str) -> bool:
    return connection.execute(query.encode(), (name,)).fetchone() is not None


def _furnish(state: State, database: str) -> None:
    with connect(state, database) as connection:
        for statement in _IN_EACH_DATABASE:
            connection.execute(statement.encode())

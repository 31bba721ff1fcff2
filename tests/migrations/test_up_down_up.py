"""Every step of the schema can be taken back and taken again, and leaves nothing behind or out."""

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from kernel.transactions import in_workspace
from tests import conftest
from tests.factories.every import make, workspace

OURS = ["agents", "tickets", "inbox", "contacts", "webhooks", "files", "tenancy", "audit", "kernel"]

# What the catalogue says of the schema, without the oids that differ from one database to the next.
CATALOGUE = """
SELECT 'column', format('%s.%s %s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attgenerated)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'table', format('%s %s %s %s', relname, relrowsecurity, relforcerowsecurity,
    (SELECT string_agg(x::text, ',' ORDER BY x::text) FROM unnest(relacl) AS x))
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')
UNION ALL SELECT 'constraint', format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'policy', format('%s %s %s %s %s', tablename, policyname, cmd, qual, with_check)
FROM pg_policies WHERE schemaname = 'public'
UNION ALL SELECT 'trigger', format('%s %s', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', format('%s %s %s %s %s', p.oid::regprocedure, pg_get_userbyid(proowner), prosecdef, md5(prosrc),
    (SELECT string_agg(x::text, ',' ORDER BY x::text) FROM unnest(proacl) AS x))
FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1, 2
"""


@pytest.fixture
def scratch(template_database, django_db_setup, django_db_blocker) -> Iterator[None]:
    """A database that `migrate` has made out of an empty one, in the place of the usual one."""
    usual = connection.settings_dict["NAME"]
    name = f"{usual}_steps"
    with django_db_blocker.unblock():
        with psycopg.connect(conftest._owner_dsn(conftest._server_database()), autocommit=True) as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template_database}"')
        conftest._point_to(name)
        try:
            yield
        finally:
            connections.close_all()
            conftest._point_to(usual)
            with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as admin:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _catalogue() -> list[str]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(CATALOGUE)
        return [": ".join(row) for row in cursor.fetchall()]


def _of_ours() -> list[str]:
    """Tables, indexes, sequences, functions and types that our apps have made."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT name FROM (SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " UNION SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS t(name)"
            " WHERE split_part(name, '_', 1) = ANY(%s) ORDER BY name",
            [OURS],
        )
        return [row[0] for row in cursor.fetchall()]


def _migrate(*targets: tuple[str, str | None]) -> None:
    """As the command does, without its announcements to apps that only make content types."""
    executor = MigrationExecutor(connections["owner"])
    executor.migrate(list(targets) or executor.loader.graph.leaf_nodes())


@pytest.mark.deep
def test_up_down_up(scratch):
    first = _catalogue()
    assert len(_of_ours()) > 100
    make(apps.get_model("inbox.Thread"), workspace().id)  # rows are in the way of a step that forgets them
    connections.close_all()

    _migrate(*((app, None) for app in OURS))
    assert _of_ours() == []

    call_command("migrate", verbosity=0)
    assert _catalogue() == first

    # The function that writes the chain is again its writer's, and works.
    house = workspace()
    event = make(apps.get_model("audit.AuditEvent"), house.id)
    with in_workspace(house.id), connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, pg_get_userbyid(proowner), prosecdef FROM pg_proc WHERE proname LIKE 'audit_%' ORDER BY 1"
        )
        names = ("audit_anchor_v1", "audit_append_v1", "audit_redact_v1")
        assert cursor.fetchall() == [(name, "inbox_audit", True) for name in names]
    assert event.sequence >= 2


@pytest.mark.deep
def test_each_last_step_alone(scratch):
    """What an operator does after a bad release: one app, one step back, and forth again."""
    first = _catalogue()
    loader = MigrationLoader(connections["owner"])
    for app in OURS:
        (leaf,) = loader.graph.leaf_nodes(app)
        before = [name for label, name in loader.graph.forwards_plan(leaf) if label == app]
        _migrate((app, before[-2] if len(before) > 1 else None))
        _migrate()
        assert _catalogue() == first, app


def test_models_and_migrations_agree(db):
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_every_app_has_one_head_and_says_so():
    loader = MigrationLoader(None)
    for app in OURS:
        (leaf,) = loader.graph.leaf_nodes(app)
        noted = apps.get_app_config(app).path + "/migrations/max_migration.txt"
        with open(noted, encoding="utf-8") as file:
            assert file.read().strip() == leaf[1]

"""The runtime role cannot change what is written once (J1): every statement on every append-only table."""

import re

import psycopg
import pytest
from django.db import DatabaseError, connection, connections

from audit.models import AuditEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.architecture import fences
from tests.architecture.test_fences import BY_TABLE
from tests.factories.every import make, workspace

# The chain's head and the payloads change, but only through the functions of their writer.
TABLES = ["agents_agentversion", "audit_auditanchor", "audit_auditevent", "webhooks_systemevent"]
GUARDED = [*TABLES, "audit_auditchain", "audit_auditpayload"]

STATEMENTS = [
    "UPDATE {t} SET {c} = {c}",
    "UPDATE {t} SET {c} = {c} WHERE false",
    "DELETE FROM {t}",
    "DELETE FROM {t} WHERE false",
    "TRUNCATE {t}",
    "TRUNCATE {t} CASCADE",
    "SET app.allow_truncate = 'on'; TRUNCATE {t}",
    "MERGE INTO {t} USING (SELECT 1) AS s ON true WHEN MATCHED THEN DELETE",
    "SELECT * FROM {t} FOR UPDATE",
    "ALTER TABLE {t} DISABLE TRIGGER ALL",
    "ALTER TABLE {t} DISABLE TRIGGER {t}_no_change",
    "ALTER TABLE {t} DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE {t} OWNER TO inbox_runtime",
    "ALTER TABLE {t} ADD COLUMN more int",
    "ALTER TABLE {t} RENAME TO {t}_old",
    "ALTER TABLE {t} SET SCHEMA pg_temp",
    "ALTER TABLE {t} SET UNLOGGED",
    "DROP TABLE {t}",
    "DROP TABLE {t} CASCADE",
    "DROP TRIGGER {t}_no_change ON {t}",
    "DROP POLICY {t}_fence ON {t}",
    "CREATE POLICY open ON {t} USING (true)",
    "CREATE RULE swallow AS ON INSERT TO {t} DO INSTEAD NOTHING",
    "CREATE TRIGGER mine BEFORE INSERT ON {t} FOR EACH ROW EXECUTE FUNCTION kernel_touch()",
    "CREATE INDEX mine ON {t} ({c})",
    "CREATE TABLE child () INHERITS ({t})",
    "CREATE TEMP TABLE child () INHERITS ({t})",
    "ALTER TABLE {t} DETACH PARTITION {t}",
    "SET session_replication_role = 'replica'",
    "SET ROLE inbox_audit",
    "SET ROLE inbox_owner",
    "UPDATE pg_catalog.pg_class SET relrowsecurity = false WHERE relname = '{t}'",
    "DELETE FROM pg_catalog.pg_trigger",
    "CREATE OR REPLACE FUNCTION kernel_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "DROP FUNCTION kernel_refuse_change() CASCADE",
    "VACUUM FULL {t}",
    "REINDEX TABLE {t}",
    "CLUSTER {t}",
    "COMMENT ON TABLE {t} IS 'mine'",
]  # fmt: skip
INSERTS = [
    "INSERT INTO {t} SELECT * FROM {t}",
    "INSERT INTO {t} SELECT * FROM {t} ON CONFLICT DO NOTHING",
    "COPY {t} FROM STDIN",
]

# Insufficient privilege, the trigger's refusal, and what such a table is not or has not.
REFUSED = {"42501", "23001", "42809", "42P16", "25001", "42P17", "0A000", "42704"}


@pytest.fixture
def written(db):
    """A row in every table, and a checksum of all of them."""
    house = workspace()
    for table in GUARDED:
        make(BY_TABLE[table], house.id)
    return house


def _rights() -> list:
    """Every right, trigger and policy."""
    return fences.query(
        connection,
        "SELECT relname, relacl::text, relrowsecurity, relforcerowsecurity, (SELECT string_agg(format('%%s %%s', tgname, tgenabled), ',')"
        " FROM pg_trigger WHERE tgrelid = c.oid) FROM pg_class c WHERE relname = ANY(%s) ORDER BY relname",
        [GUARDED],
    )


def _state(house) -> list:
    with in_all_workspaces("a test compares everything"):
        return [
            fences.query(connection, f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {t} t")
            for t in GUARDED
        ]


def test_the_list_of_tables_is_complete(db):
    assert fences.append_only(connections["owner"]) == TABLES


def _try(house, statement: str) -> str:
    try:
        with in_workspace(house.id), connection.cursor() as cursor:
            cursor.execute(statement)
            return f"done: {cursor.rowcount}"
    except DatabaseError as error:
        return getattr(error.__cause__, "sqlstate", "") or "?"


@pytest.mark.parametrize("table", GUARDED)
def test_every_statement_is_refused_to_the_runtime_role(written, table, cases):
    assert len(STATEMENTS) >= 14
    before, rights = _state(written), _rights()
    column = fences.column_of(table)
    no_insert = INSERTS[:2] if table.startswith("audit_") else []
    outcomes = {s: _try(written, s.format(t=table, c=column)) for s in STATEMENTS + no_insert}
    assert {s: o for s, o in outcomes.items() if o not in REFUSED} == {}
    _try(written, f"GRANT ALL ON {table} TO inbox_runtime WITH GRANT OPTION")  # only warns that it granted nothing
    assert (_state(written), _rights()) == (before, rights)
    cases("J1", len(outcomes))


def test_copy_into_the_chain_is_refused(written):
    with pytest.raises(psycopg.errors.InsufficientPrivilege), in_workspace(written.id), connection.cursor() as cursor:
        copy = cursor.cursor.copy("COPY audit_auditevent FROM STDIN")
        copy.__enter__()


def test_the_triggers_hold_even_for_the_owner_and_for_replicas(written):
    """Against mistakes: an owner has to take a trigger away before it can change a row."""
    owner = connections["owner"]
    for table in TABLES:
        for statement in (f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
            with pytest.raises(DatabaseError, match="append-only"), owner.cursor() as cursor:
                cursor.execute("SELECT set_config('app.all_workspaces', 'on', false)")
                cursor.execute(statement)
        ((modes,),) = fences.query(
            owner,
            "SELECT string_agg(DISTINCT tgenabled::text, '') FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname ~ '_no_'",
            [table],
        )
        assert modes == "A"
    owner.close()


def test_the_only_way_in_is_bound_to_the_scope(written):
    other = workspace("Other")
    with (
        pytest.raises(DatabaseError, match="row-level security"),
        in_workspace(written.id),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT audit_append_v1(%s, '[]'::jsonb)", [other.id])
    with in_workspace(written.id), connection.cursor() as cursor:
        cursor.execute("SELECT audit_anchor_v1(%s, 1)", [other.id])
        assert cursor.fetchone() == (None,)


@pytest.mark.parametrize("table", ["audit_auditchain", "audit_auditevent", "audit_auditpayload"])
def test_a_temporary_table_of_the_same_name_swallows_nothing(written, table):
    """A definer's function that looks into pg_temp first would write there, and the trail would stay empty."""
    with in_workspace(written.id), connection.cursor() as cursor:
        before = AuditEvent.objects.count()
        cursor.execute(f"CREATE TEMP TABLE {table} (LIKE public.{table} INCLUDING ALL) ON COMMIT DROP")
        cursor.execute(f"GRANT ALL ON {table} TO PUBLIC")
        cursor.execute(
            "SELECT audit_append_v1(%s, %s::jsonb)",
            [
                written.id,
                '[{"id": "11111111-1111-4111-8111-111111111111", "action": "a", "outcome": "done", "actor_kind": "system",'
                ' "actor_id": "", "actor_label": "", "resource_kind": "r", "resource_id": "1", "request_id": "",'
                ' "execution_id": null, "payload": {}}]',
            ],
        )
        cursor.execute(f"SELECT count(*) FROM pg_temp.{table}")
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT count(*) FROM public.audit_auditevent")
        assert cursor.fetchone()[0] == before + 1


def test_definer_functions_name_their_search_path_to_the_end(db):
    settings = fences.query(
        connections["owner"],
        "SELECT proname, array_to_string(proconfig, ';') FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace",
    )
    assert settings
    for name, text in settings:
        assert re.search(r"search_path=.*\bpg_temp$", text or ""), name

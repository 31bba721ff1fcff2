"""Every table is behind its workspace (requirement G4): what the catalogue says, and what the runtime role can do."""

import json
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, connections, transaction

from kernel.transactions import in_all_workspaces, in_workspace, unit_of_work
from tests.architecture import fences
from tests.factories.every import FACTORIES, make, workspace

# One worker parses the source once for all of them.
pytestmark = pytest.mark.xdist_group("source")

OWNED = [model for model in apps.get_models() if model._meta.db_table not in fences.GLOBAL]
BY_TABLE = {model._meta.db_table: model for model in OWNED}

each_table = pytest.mark.parametrize("table", sorted(BY_TABLE))


@pytest.fixture
def owner(db):
    return connections["owner"]


def test_every_table_is_fenced(owner, cases):
    assert fences.faults(owner) == []
    cases("G4", len(fences.owned(owner)))


def test_lists_of_exceptions_hold_only_what_exists(owner):
    existing = set(fences.tables(owner))
    assert set(fences.GLOBAL) - existing <= {"tenancy_user_groups", "tenancy_user_user_permissions"}
    named = {name for table in fences.owned(owner) for name in fences.columns(owner)[table]}
    assert set(fences.NOT_REFERENCES) <= named


def test_every_owned_table_has_a_model_and_a_factory(owner):
    assert set(fences.owned(owner)) == set(BY_TABLE)
    assert set(OWNED) <= set(FACTORIES)


UNFENCED = (
    "CREATE TABLE zz_note (id uuid PRIMARY KEY, workspace_id uuid NOT NULL, thread_id uuid, updated_at timestamptz)"
)
FENCE = (
    "ALTER TABLE zz_note ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE zz_note FORCE ROW LEVEL SECURITY",
    "CREATE POLICY zz ON zz_note USING (workspace_id = (SELECT NULLIF(current_setting('app.workspace_id', true), '')::uuid))",
    "ALTER POLICY zz ON zz_note WITH CHECK"
    " (workspace_id = (SELECT NULLIF(current_setting('app.workspace_id', true), '')::uuid))",
    "ALTER TABLE zz_note ADD FOREIGN KEY (workspace_id, thread_id) REFERENCES inbox_thread (workspace_id, id)",
    "CREATE TRIGGER zz BEFORE UPDATE ON zz_note FOR EACH ROW EXECUTE FUNCTION kernel_touch()",
)


def test_a_new_table_is_refused_until_its_whole_fence_stands(owner):
    """Each part of a fence is missed by name: the check can fail, in each of its parts."""
    with transaction.atomic(using="owner"):
        with owner.cursor() as cursor:
            cursor.execute(UNFENCED)
            before = fences.faults(owner)
            assert len(before) == 5
            assert all(fault.startswith("zz_note: ") for fault in before)
            left = [len(before)]
            for statement in FENCE:
                cursor.execute(statement)
                left.append(len(fences.faults(owner)))
        assert left == [5, 4, 3, 3, 2, 1, 0]
        transaction.set_rollback(True, using="owner")


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("ALTER TABLE inbox_thread DISABLE ROW LEVEL SECURITY", "not enabled"),
        ("ALTER TABLE inbox_thread NO FORCE ROW LEVEL SECURITY", "not forced"),
        ("DROP POLICY inbox_thread_fence ON inbox_thread", "0 policies"),
        ("CREATE POLICY more ON inbox_thread USING (true)", "2 policies"),
        ("ALTER POLICY inbox_thread_fence ON inbox_thread USING (true)", "the USING"),
        ("ALTER POLICY inbox_thread_fence ON inbox_thread WITH CHECK (true)", "the WITH CHECK"),
        ("ALTER TABLE inbox_thread ALTER workspace_id DROP NOT NULL", "NOT NULL"),
        ("ALTER TABLE inbox_thread DROP CONSTRAINT inbox_thread_inbox_id_pair", "inbox_id looks like a reference"),
        ("ALTER TABLE inbox_thread ADD FOREIGN KEY (inbox_id) REFERENCES inbox_inbox (id)", "sees through the fence"),
        ("DROP TRIGGER inbox_thread_touch ON inbox_thread", "updated_at"),
        ("ALTER TABLE inbox_thread DISABLE TRIGGER inbox_thread_touch", "updated_at"),
        ("CREATE VIEW zz_view AS SELECT * FROM inbox_thread", "security_invoker"),
    ],
)
def test_a_fence_that_loses_a_part_is_noticed(owner, statement, complaint, cases):
    with transaction.atomic(using="owner"):
        with owner.cursor() as cursor:
            cursor.execute(statement)
        found = fences.faults(owner)
        transaction.set_rollback(True, using="owner")
    assert [complaint in fault for fault in found] == [True], found
    cases("G4", 1)


def test_the_runtime_role_is_bound(db):
    (row,) = fences.query(
        connection,
        "SELECT current_user::text, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles"
        " WHERE rolname = current_user",
    )
    assert row == ("inbox_runtime", False, False, False, False)
    mine = fences.query(connection, "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = current_user")
    assert mine == [(0,)]
    for statement in (
        "CREATE TABLE public.mine (id int)",
        "TRUNCATE inbox_thread",
        "ALTER TABLE inbox_thread ADD x int",
    ):
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute(statement)


# --- behaviour: two workspaces with a row each --------------------------------------------------------------------


@pytest.fixture
def two(db):
    return workspace("Ours"), workspace("Theirs")


def _refused(statement: str, parameters: list, scope) -> str:
    """Run in a scope (None: of all workspaces); the SQLSTATE of the refusal, or how many rows it touched."""
    try:
        with in_workspace(scope) if scope else in_all_workspaces("a test"), connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return f"{cursor.rowcount} rows"
    except DatabaseError as error:
        return getattr(error.__cause__, "sqlstate", "") or ""


def _copy(table: str, changes: dict) -> tuple[str, list]:
    """A statement that inserts a copy of one row with some columns changed; the copy is read within the scope."""
    writable = [
        row[0]
        for row in fences.query(
            connection,
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
            " AND attgenerated = ''",
            [table],
        )
    ]
    names = ", ".join(f'"{name}"' for name in writable)
    statement = (
        f"INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_record(NULL::{table},"
        f" (SELECT to_jsonb(t) FROM {table} t LIMIT 1) || %s::jsonb)"
    )
    return statement, [json.dumps(changes, default=str)]


@each_table
def test_a_scope_sees_its_own_rows_and_no_scope_sees_none(two, table, cases):
    for house in two:
        make(BY_TABLE[table], house.id)
    for house in two:
        with in_workspace(house.id):
            seen = fences.query(connection, f"SELECT DISTINCT {fences.column_of(table)} FROM {table}")
        assert seen == [(house.id,)]
    count = f"SELECT count(*) FROM {table}"
    with unit_of_work():
        assert fences.query(connection, count) == [(0,)]
    with in_workspace(uuid4()):
        assert fences.query(connection, count) == [(0,)]
    assert fences.query(connection, count) == [(0,)]
    cases("G4", 5)  # either scope, an unknown one, none in a unit of work, none at all


@each_table
def test_nothing_is_written_into_another_workspace(two, table, cases):
    ours, theirs = two
    for house in two:
        make(BY_TABLE[table], house.id)
    column = fences.column_of(table)
    statement, parameters = _copy(table, {column: theirs.id if column != "id" else uuid4()})
    assert _refused(statement, parameters, ours.id) == "42501"
    moved = _refused(f"UPDATE {table} SET {column} = %s WHERE {column} = %s", [uuid4(), ours.id], ours.id)
    assert moved in {"42501", "23001"}  # the fence or the grant; or, where rows never change, the trigger
    for statement in (
        f"UPDATE {table} SET {column} = {column} WHERE {column} = %s",
        f"DELETE FROM {table} WHERE {column} = %s",
    ):
        assert _refused(statement, [theirs.id], ours.id) in {"0 rows", "42501"}
    with in_workspace(theirs.id):
        assert fences.query(connection, f"SELECT count(*) > 0 FROM {table}") == [(True,)]
    cases("G4", 4)  # inserted, moved, changed, deleted


def _paired_keys() -> list[tuple[str, str]]:
    """From the models: every column that names a row of the same workspace."""
    found = [
        (model._meta.db_table, field.column, field.related_model)
        for model in OWNED
        for field in model._meta.concrete_fields
        if field.is_relation and field.related_model in OWNED and field.column != "workspace_id"
    ]
    plain = [
        ("inbox_inbox", "agent_id", "agents.Agent"),
        ("agents_actionintent", "entry_id", "inbox.Entry"),
        ("tenancy_teaminbox", "inbox_id", "inbox.Inbox"),
    ]
    found += [(table, column, apps.get_model(label)) for table, column, label in plain]
    return sorted(found, key=lambda pair: pair[:2])


def test_the_paired_keys_of_the_database_are_those_of_the_models(owner):
    expected = {(table, column, target._meta.db_table) for table, column, target in _paired_keys()}
    assert set(fences.pairs(owner)) == expected


@pytest.mark.parametrize(
    ("table", "column", "target"), _paired_keys(), ids=lambda value: str(getattr(value, "__name__", value))
)
def test_a_row_cannot_refer_into_another_workspace(two, owner, table, column, target, cases):
    ours, theirs = two
    row = make(BY_TABLE[table], ours.id)
    # Only what was written to leave may be sent, which is asked before any key.
    fitting = {"direction": "outbound"} if (table, column) == ("inbox_outboundmessage", "entry_id") else {}

    def outcome(target_id, number):
        if table in fences.append_only(owner):
            return _refused(*_copy(table, {"id": uuid4(), column: target_id, "number": number}), ours.id)
        key = row._meta.pk.column
        # With both in sight: it is the key that keeps them apart, not what can be seen.
        return _refused(f"UPDATE {table} SET {column} = %s WHERE {key} = %s", [target_id, row.pk], None)

    assert outcome(make(target, theirs.id, **fitting).pk, 98) == "23503"
    # The control: the same change with a row of our own is accepted, so it is the key that refuses.
    assert outcome(make(target, ours.id, **fitting).pk, 99) == "1 rows"
    cases("G4", 1)

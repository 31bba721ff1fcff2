"""SQL as the application may send it: whatever a fault in the application asked, the database would not give.

Each probe runs as the runtime role, within the scope of one workspace, and is rolled back.
"""

# ruff: noqa: S608 - the names in these statements come from the database's own catalogue

import json
from secrets import randbelow
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, connection, transaction

from config.proving import catalogue
from config.proving.catalogue import Table
from config.proving.findings import Findings
from kernel.transactions import in_workspace

# insufficient_privilege (the policy, or the grant), or the check of a trigger that comes before the policy.
_REFUSALS = ("42501", "23514")


def probe(found: Findings, *, ours: UUID, theirs: UUID) -> None:
    """Every table: without a scope, and from within our workspace at the rows of theirs."""
    for table in catalogue.tables():
        found.count("tables")
        _without_scope(found, table)
        _reading(found, table, ours, theirs)
        _writing(found, table, ours, theirs)
        _referring(found, table, ours, theirs)


def _without_scope(found: Findings, table: Table) -> None:
    if catalogue.one(f'SELECT count(*) FROM "{table.name}"', []):
        found.leak(f"{table.name}: rows are in sight without a workspace")


def _reading(found: Findings, table: Table, ours: UUID, theirs: UUID) -> None:
    statement = f'SELECT count(*) FROM "{table.name}" WHERE "{table.owner}" IS DISTINCT FROM %s'
    with in_workspace(ours):
        if catalogue.one(statement, [ours]):
            found.leak(f"{table.name}: rows of other workspaces are in sight")
    with in_workspace(theirs):
        if not catalogue.one(f'SELECT count(*) FROM "{table.name}"', []):
            found.empty_tables.append(table.name)


def _writing(found: Findings, table: Table, ours: UUID, theirs: UUID) -> None:
    """Change, delete and take over rows of theirs; insert one that would be theirs."""
    column = f'"{table.owner}"'
    for verb, statement, values in (
        ("changed", f'UPDATE "{table.name}" SET {column} = {column} WHERE {column} = %s', [theirs]),
        ("deleted", f'DELETE FROM "{table.name}" WHERE {column} = %s', [theirs]),
        ("taken over", f'UPDATE "{table.name}" SET {column} = %s WHERE {column} = %s', [ours, theirs]),
    ):
        touched, _ = _try(statement, values, ours)
        if touched:
            found.leak(f"{table.name}: {touched} rows of the other workspace could be {verb}")
    statement, inserted = _copy(table, {table.owner: str(theirs)})
    touched, code = _try(statement, inserted, ours)
    if touched is not None or code not in _REFUSALS:
        found.leak(f"{table.name}: a row could be put into the other workspace ({code or 'accepted'})")


def _referring(found: Findings, table: Table, ours: UUID, theirs: UUID) -> None:
    """A row of ours that points at a row of theirs."""
    for column, target in table.pairs.items():
        with in_workspace(theirs):
            foreign = catalogue.one(f"SELECT id::text FROM {target} LIMIT 1", [])
        if foreign is None:
            continue
        statement, values = _copy(table, {column: foreign})
        touched, _ = _try(statement, values, ours)
        if touched:
            found.leak(f"{table.name}.{column}: a row of ours could point at {target} of the other workspace")


def _copy(table: Table, changes: dict[str, str]) -> tuple[str, list[Any]]:
    """Insert a copy of a row of ours with another id and `changes`."""
    fresh = {"id": _fresh_id(table)} if "id" in table.columns and table.owner != "id" else {}
    columns = ", ".join(f'"{name}"' for name in table.columns)
    statement = (
        f'INSERT INTO "{table.name}" ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns}'
        f' FROM jsonb_populate_record(NULL::"{table.name}",'
        f' (SELECT to_jsonb(t) FROM "{table.name}" t LIMIT 1) || %s::jsonb)'
    )
    return statement, [json.dumps(fresh | changes)]


def _fresh_id(table: Table) -> str:
    """An id that no row has, of the kind that the table uses."""
    kind = catalogue.one(
        "SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'id'",
        [table.name],
    )
    return str(uuid4()) if kind == "uuid" else str(-randbelow(2**31))


def _try(statement: str, values: list[Any], scope: UUID) -> tuple[int | None, str]:
    """How many rows a statement touches, or None and the SQLSTATE of its refusal. Nothing of it stays."""
    try:
        with in_workspace(scope):
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute(statement, values)
                touched = cursor.rowcount
            transaction.set_rollback(True)
            return touched, ""
    except DatabaseError as error:
        return None, str(getattr(error.__cause__, "sqlstate", "") or "")

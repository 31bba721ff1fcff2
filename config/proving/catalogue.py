"""What the database knows of its tables: which are of workspaces, their keys, and every row of one workspace."""

# ruff: noqa: S608 - the names in these statements come from the database's own catalogue

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from kernel.transactions import in_workspace


@dataclass(frozen=True)
class Table:
    """A table of workspaces. `owner` is the column that names the workspace; `pairs` are its keys within it."""

    name: str
    owner: str
    columns: tuple[str, ...]
    pairs: Mapping[str, str]


_TABLES = """
SELECT c.relname::text,
    array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attgenerated = '' ORDER BY a.attnum)
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relforcerowsecurity
ORDER BY 1
"""

_PAIRS = """
SELECT k.conrelid::regclass::text, (SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = k.conrelid AND a.attnum = ANY(k.conkey) AND a.attname <> 'workspace_id'),
    k.confrelid::regclass::text
FROM pg_constraint k WHERE k.contype = 'f' AND array_length(k.conkey, 1) = 2
    AND k.connamespace = 'public'::regnamespace
"""


@cache
def tables() -> list[Table]:
    """Every fenced table."""
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS)
        pairs: dict[str, dict[str, str]] = {}
        for table, column, target in cursor.fetchall():
            pairs.setdefault(table, {})[column] = target
        cursor.execute(_TABLES)
        found = cursor.fetchall()
    return [
        Table(name, "workspace_id" if "workspace_id" in columns else "id", tuple(columns), pairs.get(name, {}))
        for name, columns in found
    ]


def ids(workspace_id: UUID, *, most: int = 2) -> dict[str, str]:
    """Ids of a workspace's rows, some of each table, by `table.column`: whatever could be put where an id stands."""
    found: dict[str, str] = {}
    with in_workspace(workspace_id), connection.cursor() as cursor:
        for table in tables():
            for column in {"id", "external_id", "event_id"}.intersection(table.columns):
                cursor.execute(
                    f'SELECT "{column}"::text FROM "{table.name}" WHERE "{column}" IS NOT NULL LIMIT %s', [most]
                )
                for number, (value,) in enumerate(cursor.fetchall()):
                    found[f"{table.name}.{column}#{number}"] = value
    return found


def rows(workspace_id: UUID) -> dict[str, set[str]]:
    """A digest of every row of a workspace, by table."""
    found = {}
    with in_workspace(workspace_id), connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f'SELECT md5(t::text) FROM "{table.name}" t')
            found[table.name] = {row[0] for row in cursor.fetchall()}
    return found


def holding(workspace_id: UUID, text: str) -> list[str]:
    """The tables in which rows of a workspace hold a text."""
    found = []
    with in_workspace(workspace_id), connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f'SELECT 1 FROM "{table.name}" t WHERE strpos(t::text, %s) > 0 LIMIT 1', [text])
            if cursor.fetchone():
                found.append(table.name)
    return found


def one(statement: str, parameters: list[Any]) -> Any:
    """The one value of a statement, in the scope that the connection has now."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
        return row[0] if row else None

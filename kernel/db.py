"""Migration operations for the promises that models cannot state: fences, paired keys, append-only tables.

Each returns a reversible RunSQL. A workspace-owned table is fenced with `fence(...)` in the migration that
creates it; `tests/architecture/test_fences.py` fails for a table that is not.
"""

from collections.abc import Mapping
from pathlib import Path

from django.db.migrations.operations import RunSQL

# Evaluated once per query (scalar sub-select), not once per row. After SET LOCAL ends the setting is '', not NULL.
_WORKSPACE = "(SELECT NULLIF(current_setting('app.workspace_id', true), '')::uuid)"
_EVERYTHING = "(SELECT current_setting('app.all_workspaces', true)) = 'on'"
# Work that is narrowed to inboxes sees what belongs to them; for all other work nothing is looked at.
_WHOLE = "(SELECT coalesce(current_setting('app.inbox_ids', true), '') = '')"
INBOXES = "(SELECT NULLIF(current_setting('app.inbox_ids', true), ''))::uuid[]"


def fence(
    table: str,
    *,
    references: Mapping[str, str] | None = None,
    column: str = "workspace_id",
    touch: bool = True,
    narrowed: str = "",
) -> RunSQL:
    """Put `table` behind its workspace: forced row-level security, paired keys, `updated_at` kept by the database.

    `references` maps a column to the table it points at within the same workspace. The pair (workspace, column)
    must exist there, so that no row can reach into another workspace: key checks do not see row-level security.
    Set `touch=False` for tables without `updated_at`. `narrowed` is a condition on rows that work for some inboxes only
    may see as well; `INBOXES` stands for their ids.
    """
    mine = f"{column} = {_WORKSPACE}" + (f" AND ({_WHOLE} OR {narrowed})" if narrowed else "")
    seen = f"{mine} OR {_EVERYTHING}"
    forward = [
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY {table}_fence ON {table} USING ({seen}) WITH CHECK ({seen})",
    ]
    reverse = [
        f"DROP POLICY {table}_fence ON {table}",
        f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
    ]
    if touch:
        forward.append(
            f"CREATE TRIGGER {table}_touch BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION kernel_touch()"
        )
        reverse.insert(0, f"DROP TRIGGER {table}_touch ON {table}")
    for referring, target in (references or {}).items():
        add, drop = _pair(table, referring, target, column)
        forward.append(add)
        reverse.insert(0, drop)
    return RunSQL(_statements(forward), _statements(reverse))


def pair(table: str, referring: str, target: str, *, column: str = "workspace_id") -> RunSQL:
    """Add one paired key to a table that is fenced already; used by an upper app for a lower app's plain id."""
    add, drop = _pair(table, referring, target, column)
    return RunSQL(add, drop)


def pairable(*tables: str) -> RunSQL:
    """Let other tables refer to `tables` together with their workspace."""
    forward = [f"ALTER TABLE {t} ADD CONSTRAINT {t}_pair UNIQUE (workspace_id, id)" for t in tables]
    reverse = [f"ALTER TABLE {t} DROP CONSTRAINT {t}_pair" for t in reversed(tables)]
    return RunSQL(_statements(forward), _statements(reverse))


def append_only(*tables: str, writer: str = "inbox_runtime") -> RunSQL:
    """Refuse UPDATE, DELETE and TRUNCATE by trigger (against mistakes) and by grant (against intent).

    The trigger lets TRUNCATE pass where `app.allow_truncate` is on, which only the test suite's owner connection sets.
    """
    forward: list[str] = []
    reverse: list[str] = []
    for table in tables:
        forward += [
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION kernel_refuse_change()",
            f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION kernel_refuse_change()",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_change",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate",
            f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {table} FROM inbox_runtime",
            f"GRANT SELECT, INSERT ON {table} TO {writer}",
        ]
        reverse += [
            f"GRANT INSERT, UPDATE, DELETE ON {table} TO inbox_runtime",
            f"DROP TRIGGER {table}_no_truncate ON {table}",
            f"DROP TRIGGER {table}_no_change ON {table}",
        ]
    return RunSQL(_statements(forward), _statements(reverse))


def sealed(table: str, *columns: str) -> RunSQL:
    """Have the database read the key version out of each envelope, and refuse versions that are unknown or retired.

    The twin column `<column>_key` refers to the live key of its number: retiring a key that any envelope names is
    refused like the deletion of any row that is referred to, and something that is no envelope cannot be stored.
    """
    forward: list[str] = []
    reverse: list[str] = []
    for column in columns:
        version = " + ".join(f"get_byte({column}, {place})::bigint * {256 ** (4 - place)}" for place in range(1, 5))
        forward += [
            f"ALTER TABLE {table} ADD COLUMN {column}_key integer GENERATED ALWAYS AS (({version})::integer) STORED",
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_names_a_live_key FOREIGN KEY ({column}_key)"
            " REFERENCES kernel_encryptionkey (live_version)",
        ]
        reverse.insert(0, f"ALTER TABLE {table} DROP COLUMN {column}_key")
    return RunSQL(_statements(forward), _statements(reverse))


def sql_file(path: Path, *, reverse: str) -> RunSQL:
    """Run a file of functions. Names inside carry a version (`…_v1`), so that old code runs beside new."""
    return RunSQL(path.read_text(encoding="utf-8"), reverse)


def _pair(table: str, referring: str, target: str, column: str) -> tuple[str, str]:
    name = f"{table}_{referring}_pair"
    add = (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}, {referring}) "
        f"REFERENCES {target} (workspace_id, id) DEFERRABLE INITIALLY IMMEDIATE"
    )
    return add, f"ALTER TABLE {table} DROP CONSTRAINT {name}"


def _statements(parts: list[str]) -> str:
    return ";\n".join(parts) + ";"

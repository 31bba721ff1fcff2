"""A world that many tests begin in is built once by each worker, through the public doors, and brought back for the others.

Its rows lie in temporary tables of the owner's session, its files in a folder. What a builder leaves elsewhere (a script in the
process, say) is not brought back, and belongs into the fixture.
"""

import atexit
import pickle
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from django.conf import settings

from tests import emptying

Built = TypeVar("Built")

# Rows of these are there already, and others may refer to them.
_FIRST = ("kernel_encryptionkey", "tenancy_workspace")
_COLUMNS = """
SELECT attrelid::regclass::text, string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = ANY (%s::regclass[]) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' GROUP BY 1
"""
_TRIGGERS = """
SELECT tgrelid::regclass::text, tgname::text, CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE '' END
FROM pg_trigger WHERE tgrelid = ANY (%s::regclass[]) AND NOT tgisinternal AND tgtype & 4 <> 0
"""


@dataclass(frozen=True)
class _Kept:
    """What was built, the session that has its rows, the statements that bring them back, and the folder of its files."""

    built: bytes
    session: psycopg.Connection
    restoring: str
    files: Path


_worlds: dict[str, _Kept] = {}


def kept(name: str, build: Callable[[], Built]) -> Built:
    """What `build` makes of the empty database; no other builder has this name. Each test gets objects of its own."""
    session = emptying.owner()
    world = _worlds.get(name)
    if world is None or world.session is not session:
        built = build()
        _worlds[name] = _keep(session, name, built)
        return built
    with session.transaction():
        session.execute(world.restoring)
    shutil.copytree(world.files, settings.FILES_ROOT, dirs_exist_ok=True)
    return pickle.loads(world.built)


def _keep(session: psycopg.Connection, name: str, built: Any) -> _Kept:
    tables = [*_FIRST, *(table for table in emptying.dirty() if table not in _FIRST)]
    copies = {table: f"pg_temp.{name}_{number}" for number, table in enumerate(tables)}
    columns = dict(session.execute(_COLUMNS, [tables]).fetchall())
    triggers = session.execute(_TRIGGERS, [tables]).fetchall()
    with session.transaction():
        for table, copy in copies.items():
            session.execute(f"CREATE TEMPORARY TABLE {copy} AS SELECT * FROM {table}")
    restoring = [
        "SET CONSTRAINTS ALL DEFERRED",
        *(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}" for table, trigger, _ in triggers),
        *(
            f"INSERT INTO {table} ({columns[table]}) OVERRIDING SYSTEM VALUE SELECT {columns[table]} FROM {copy}"
            + (" ON CONFLICT DO NOTHING" if table in _FIRST else "")
            for table, copy in copies.items()
        ),
        "SET CONSTRAINTS ALL IMMEDIATE",
        *(f"ALTER TABLE {table} ENABLE {mode} TRIGGER {trigger}" for table, trigger, mode in triggers),
    ]
    return _Kept(pickle.dumps(built), session, "; ".join(restoring), _files())


def _files() -> Path:
    """A copy of the files of now."""
    folder = Path(tempfile.mkdtemp(prefix="inbox-kept-"))
    atexit.register(partial(shutil.rmtree, folder, ignore_errors=True))
    if Path(settings.FILES_ROOT).exists():
        shutil.copytree(settings.FILES_ROOT, folder, dirs_exist_ok=True)
    return folder

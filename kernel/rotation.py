"""Seal every secret of every table with the newest key, in batches that each commit: kill it and start it again.

Nothing is remembered between two runs but the rows themselves: what names an older version is what is left to do.
Readers and writers go on meanwhile; a batch holds its rows' locks for milliseconds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from kernel import crypto, envelope, sealed
from kernel.crash import crash_point
from kernel.errors import Conflict, Invalid, NotFound
from kernel.keys import ring
from kernel.models import EncryptionKey
from kernel.sealed import SealedColumn
from kernel.transactions import in_all_workspaces

_REASON = "keys seal the secrets of every workspace"
_PASSES = 5


class KeyInUse(Conflict):
    """Secrets are still sealed with the version that was to be retired."""

    code = "key_in_use"


@dataclass
class Batch:
    """What one transaction has done: rows sealed anew, and rows that no key opens."""

    column: SealedColumn
    done: int = 0
    broken: list[str] = field(default_factory=list)


Note = Callable[[Batch], None]


def rotate(*, size: int = 200, note: Note = lambda _batch: None) -> Iterator[Batch]:
    """Seal anew what is sealed with older versions; a batch at a time. `note` is called in the batch's transaction."""
    for column in sealed.columns():
        # Writers that have not yet heard of the newest key may leave new rows behind a pass.
        for _ in range(_PASSES):
            found = False
            for batch in _pass(column, size, note):
                found = found or batch.done > 0
                yield batch
            if not found:
                break


def _pass(column: SealedColumn, size: int, note: Note) -> Iterator[Batch]:
    after: Any = None
    while True:
        with in_all_workspaces(_REASON):
            batch, after = _seal_batch(column, size, after)
            if after is None:
                return
            if batch.done:
                note(batch)
            crash_point("rotation.batch")
        yield batch


def _seal_batch(column: SealedColumn, size: int, after: Any) -> tuple[Batch, Any]:
    batch, version = Batch(column), ring.sealing()[0]
    behind = "" if after is None else f"AND {column.key} > %(after)s "
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {column.key}, workspace_id, {column.column} FROM {column.table} "  # noqa: S608 - names of models
            f"WHERE {column.version} <> %(version)s {behind}ORDER BY {column.key} LIMIT %(size)s FOR NO KEY UPDATE",
            {"version": version, "after": after, "size": size},
        )
        rows = cursor.fetchall()
        sealed_anew = []
        for key, workspace_id, frame in rows:
            place = {
                "workspace_id": workspace_id,
                "table": column.table,
                "row_id": sealed.row_id(key),
                "purpose": column.purpose,
            }
            try:
                sealed_anew.append((crypto.seal(crypto.open_sealed(bytes(frame), **place), **place), key))
            except envelope.CannotDecrypt:
                batch.broken.append(str(key))
        cursor.executemany(
            f"UPDATE {column.table} SET {column.column} = %s WHERE {column.key} = %s",  # noqa: S608
            sealed_anew,
        )
    batch.done = len(sealed_anew)
    return batch, rows[-1][0] if rows else None


def uses() -> dict[int, dict[str, int]]:
    """How many secrets each key version seals, by table and column."""
    found: dict[int, dict[str, int]] = {}
    with in_all_workspaces(_REASON), connection.cursor() as cursor:
        for column in sealed.columns():
            cursor.execute(
                f"SELECT {column.version}, count(*) FROM {column.table} "  # noqa: S608 - names of models
                f"WHERE {column.version} IS NOT NULL GROUP BY 1"
            )
            for version, count in cursor.fetchall():
                found.setdefault(int(version), {})[f"{column.table}.{column.column}"] = int(count)
    return found


def retire(version: int) -> None:
    """Let go of a key version. KeyInUse, by the database's word, while anything names it; the one that seals stays."""
    if version == ring.sealing()[0]:
        raise Invalid("This version seals. Add a newer key and rotate first.", pointer="/version")
    with in_all_workspaces(_REASON):
        rows = EncryptionKey.objects.filter(version=version, retired_at=None)
        try:
            with transaction.atomic():
                changed = rows.update(retired_at=Now())
        except IntegrityError as error:
            left = ", ".join(f"{count} in {place}" for place, count in uses().get(version, {}).items())
            raise KeyInUse(
                f"Key version {version} still seals secrets ({left}). Rotate first, then retire it."
            ) from error
    if not changed:
        raise NotFound(f"No live key has the version {version}.")
    ring.forget()

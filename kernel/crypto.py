"""Seal and open secrets with the keys of this installation. The frame is kernel.envelope's, the keys are kernel.keys'."""

import time
from functools import cache
from uuid import UUID

from django.db import OperationalError, ProgrammingError, connection

from kernel import envelope, sealed
from kernel.keys import ring
from kernel.keys.refusals import KeysRefused


@cache
def _check_place(table: str, purpose: str) -> None:
    if not sealed.is_place(table, purpose):
        raise LookupError(
            f"No SealedField of {table} has the purpose {purpose!r}; without one, rotation would not find what is sealed."
        )


def seal(plaintext: bytes, *, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    """Encrypt with the newest key, bound to one field of one row, which a SealedField declares."""
    _check_place(table, purpose)
    version, key = ring.sealing()
    return envelope.seal(
        plaintext, version=version, key=key, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose
    )


def open_sealed(frame: bytes, *, workspace_id: UUID, table: str, row_id: UUID, purpose: str) -> bytes:
    """Decrypt what `seal` made for the same place; CannotDecrypt for anything else."""
    keys = ring.with_version(envelope.key_version(frame))
    return envelope.open_sealed(
        frame, keys=keys, workspace_id=workspace_id, table=table, row_id=row_id, purpose=purpose
    )


def register_keys() -> None:
    """Record new key versions; KeysRefused, in one sentence, for keys that are not those of this database (K5)."""
    ring.register()


def require_keys(*, patience: float = 30) -> None:
    """What every process that seals or opens asks before it starts. Waits a while for a database that is starting, too.

    KeysRefused, in one sentence, when the keys are wrong, or when nobody can tell.
    """
    ends = time.monotonic() + patience
    while True:
        try:
            register_keys()
        except OperationalError as error:
            if time.monotonic() >= ends:
                raise KeysRefused(
                    "The database does not answer, so nobody can tell whether ENCRYPTION_KEYS are its keys: "
                    "start it, or correct DATABASE_URL."
                ) from error
            connection.close()
            time.sleep(0.5)
        except ProgrammingError as error:
            raise KeysRefused("The database has no tables yet: run manage.py migrate.") from error
        else:
            break
    # Whoever starts here serves from other threads; this one would hold its connection for nothing.
    connection.close()

"""The keys at hand: those of the environment, and, with KEY_PROVIDER=aws_kms, the data keys that KMS has opened.

The environment's keys stay good under KMS, so that an installation can move: what is sealed with them opens, and
`rotate_keys` seals it anew. The highest version seals.
"""

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from kernel import envelope
from kernel.keys import kms
from kernel.keys.refusals import KeyMismatch, KeyMissing, KeysRefused
from kernel.models import EncryptionKey


@dataclass
class _Known:
    """What this process knows of one database: its opened data keys, and the versions that are written down there."""

    opened: dict[int, bytes] = field(default_factory=dict)
    looked_at: float = -float("inf")
    registered: set[int] = field(default_factory=set)


_known: dict[str, _Known] = {}


def forget() -> None:
    """Begin anew, as a new process does."""
    _known.clear()


def _here() -> _Known:
    return _known.setdefault(str(connection.settings_dict["NAME"]), _Known())


def keys() -> Mapping[int, bytes]:
    """Every key at hand, by version."""
    configured: dict[int, bytes] = settings.ENCRYPTION_KEYS
    return configured | _opened() if settings.KEY_PROVIDER == kms.NAME else configured


def with_version(version: int) -> Mapping[int, bytes]:
    """The keys for opening a frame of this version, which another process may have made a moment ago."""
    found = keys()
    if version not in found and settings.KEY_PROVIDER == kms.NAME:
        _here().looked_at = -float("inf")
        found = keys()
    return found


def sealing() -> tuple[int, bytes]:
    """The version that seals, and its key; in its database before anything is sealed with it (K5)."""
    found = keys()
    if not found:
        raise KeysRefused("No encryption key is at hand: run manage.py doctor.")
    version = max(found)
    here = _here()
    if version not in here.registered:
        _register(version, found[version])
        transaction.on_commit(lambda: here.registered.add(version))
    return version, found[version]


def register() -> None:
    """Record new key versions; refuse keys that changed under their number, and the loss of one (K5).

    Asked before anything is sealed or opened: with a wrong key, what is written would be lost beside what is.
    """
    rows = {row.version: row for row in EncryptionKey.objects.all()}
    live = {version: row for version, row in rows.items() if row.retired_at is None}
    _refuse_lost(live)
    if settings.KEY_PROVIDER == kms.NAME:
        forget()
        if not any(row.wrapped for row in live.values()):
            renew()
    found = keys()
    for version, key in found.items():
        _register(version, key)
    if (newest := rows.get(max(found))) and newest.retired_at:
        raise KeysRefused(f"Key version {newest.version} was retired: add a new key under the next number.")


def renew() -> int:
    """Make a new data key, which seals from now on; its version. Only a provider that makes keys can."""
    if settings.KEY_PROVIDER != kms.NAME:
        raise KeysRefused(
            "The keys come from ENCRYPTION_KEYS: add a new one there under the next number, and start every process anew."
        )
    newest = EncryptionKey.objects.aggregate(found=Max("version"))["found"] or 0
    version = max(newest, *settings.ENCRYPTION_KEYS, 0) + 1 if settings.ENCRYPTION_KEYS else newest + 1
    key, wrapped = kms.make(version)
    # Of two processes that start at the same time, one wins; the other then reads what that has written.
    EncryptionKey.objects.bulk_create(
        [EncryptionKey(version=version, check_value=envelope.check_value(key), provider=kms.NAME, wrapped=wrapped)],
        ignore_conflicts=True,
    )
    forget()
    return version


def _refuse_lost(live: Mapping[int, EncryptionKey]) -> None:
    for version, row in sorted(live.items()):
        if row.wrapped and settings.KEY_PROVIDER != kms.NAME:
            raise KeyMissing(f"Key version {version} is kept by AWS KMS: set KEY_PROVIDER=aws_kms and KMS_KEY_ID.")
        if not row.wrapped and version not in settings.ENCRYPTION_KEYS:
            raise KeyMissing(
                f"ENCRYPTION_KEYS lacks version {version}, with which secrets of this database are sealed: "
                "restore that key from a copy and add it again."
            )


def _register(version: int, key: bytes) -> None:
    row, _ = EncryptionKey.objects.get_or_create(
        version=version, defaults={"check_value": envelope.check_value(key), "provider": "environment"}
    )
    if hmac.compare_digest(bytes(row.check_value), envelope.check_value(key)):
        return
    if row.wrapped:
        raise KeyMismatch(f"What AWS KMS gives out for key version {version} is not the key that was used before.")
    raise KeyMismatch(
        f"ENCRYPTION_KEYS version {version} is not the key that was used before: "
        "restore the old key under this number, and add the new one under the next number."
    )


def _opened() -> dict[int, bytes]:
    """The data keys of this database, looked up anew every while: another process may have made one."""
    here = _here()
    if time.monotonic() - here.looked_at >= settings.KEY_REFRESH_SECONDS:
        rows = EncryptionKey.objects.filter(retired_at=None, wrapped__isnull=False)
        here.opened = {
            row.version: here.opened.get(row.version) or kms.unwrap(row.version, bytes(row.wrapped or b""))
            for row in rows
        }
        here.looked_at = time.monotonic()
    return here.opened

"""What is done to encryption keys, each with its record in the estate's audit trail."""

from typing import Any

from audit.services import record
from kernel import rotation
from kernel.context import ESTATE
from kernel.keys import ring
from kernel.rotation import Batch
from kernel.transactions import in_workspace, unit_of_work


def note(batch: Batch) -> None:
    """Record a batch of the rotation, in the batch's own transaction."""
    _record("rotate", ring.sealing()[0], column=f"{batch.column.table}.{batch.column.column}", sealed_anew=batch.done)


def renew() -> int:
    """A new key of the provider, which seals from now on; its version."""
    with in_workspace(ESTATE):
        version = ring.renew()
        _record("create", version)
    return version


def retire(version: int) -> None:
    """Let a key version go that nothing names any more."""
    with in_workspace(ESTATE):
        with unit_of_work():
            rotation.retire(version)
        _record("retire", version)


def _record(verb: str, version: int, **details: Any) -> None:
    record(
        workspace_id=ESTATE,
        action=f"encryption_key.{verb}",
        resource_kind="encryption_key",
        resource_id=version,
        payload=details,
    )

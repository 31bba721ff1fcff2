"""Run once per key, replay the stored answer (draft-ietf-httpapi-idempotency-key-header-07).

The key is locked in the work's own transaction, and the answer is kept in it: a run that fails, or whose process dies,
leaves neither effect nor key behind. Answers are kept sealed: some hold a secret that is shown once.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from kernel import clock, crypto
from kernel.access import Principal
from kernel.crash import crash_point
from kernel.errors import Conflict, Invalid
from kernel.transactions import Call, in_all_workspaces, unit_of_work

KEY_LENGTH = 255


class KeyReused(Invalid):
    """The Idempotency-Key came with another body, or at another address, before."""

    code = "idempotency_key_reused"


class KeyMalformed(Invalid):
    """The Idempotency-Key is not 1 to 255 visible ASCII characters."""

    code = "idempotency_key_malformed"
    status = 400


class StillRunning(Conflict):
    """The first request with this Idempotency-Key has not ended. It passes."""

    code = "idempotency_key_in_use"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer to keep: status, JSON body, and whether it is a replay."""

    status: int
    body: bytes
    replayed: bool = False


def fingerprint(content: Any) -> bytes:
    """SHA-256 of the canonical JSON: the order of keys and white space do not matter."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).digest()
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS, default=str)).digest()


def check_key(key: str) -> str:
    """A key is 1 to 255 visible ASCII characters."""
    if not key or len(key) > KEY_LENGTH or not all("!" <= c <= "~" for c in key):
        raise KeyMalformed("Idempotency-Key must be 1 to 255 visible ASCII characters; a UUID is a good choice.")
    return key


# Before the audit chain, whose head is locked last.
FLUSH_RANK = 50
_BEGIN = "kernel_idempotency_begin_v1(scope.workspace::uuid, %s, %s)"
_KEEP = "kernel_idempotency_keep_v1(%s, %s, %s, %s, %s, %s, %s, %s, %s)"


def run_once(
    *, principal: Principal, operation: str, key: str, content: Any, work: Callable[[], tuple[int, bytes]]
) -> Answer:
    """Do `work` in a unit of work of its workspace and keep its answer; later calls get that answer back.

    Raises KeyReused (422) when the key came with other content, StillRunning (409) while the first call runs.
    A refused request (a raised error) is not kept: it may be corrected and sent again under the same key.
    """
    mark = fingerprint({"operation": operation, "content": fingerprint(content).hex()})
    check_key(key)
    with unit_of_work(principal.scope, applied=False) as unit:
        found = unit.ask_first(principal.scope, _BEGIN, [principal.pk, key])
        if found is None:
            raise StillRunning("The first request with this Idempotency-Key is still running. Try again in a moment.")
        is_free, record_id, *kept = found
        if not is_free:
            return _replay(principal, mark, record_id, *kept)
        crash_point("idempotency.begun")
        status, body = work()
        crash_point("idempotency.worked")
        sealed = crypto.seal(body, **_place(principal, record_id))
        expires = clock.now() + timedelta(hours=settings.IDEMPOTENCY_HOURS)
        values = [record_id, principal.workspace_id, principal.pk, operation, key, mark, status, sealed, expires]
        unit.add("idempotency", Call(_KEEP, values, principal.scope), rank=FLUSH_RANK, flush=_keep)
    crash_point("idempotency.committed")
    return Answer(status=status, body=body)


def _keep(calls: list[object]) -> list[Call]:
    return [call for call in calls if isinstance(call, Call)]


def _replay(principal: Principal, mark: bytes, record_id: int, kept_mark: bytes, status: int, body: bytes) -> Answer:
    if bytes(kept_mark) != mark:
        raise KeyReused("This Idempotency-Key was used for a different request. Use a new key for new content.")
    return Answer(status=status, body=crypto.open_sealed(body, **_place(principal, record_id)), replayed=True)


def _place(principal: Principal, record_id: int) -> dict[str, Any]:
    return {
        "workspace_id": principal.workspace_id,
        "table": "kernel_idempotencyrecord",
        "row_id": UUID(int=record_id),
        "purpose": "answer",
    }


def prune() -> int:
    """Delete records past their time; the number deleted."""
    with in_all_workspaces("pruning of plumbing"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM kernel_idempotencyrecord WHERE expires_at < now()")
        return int(cursor.rowcount)

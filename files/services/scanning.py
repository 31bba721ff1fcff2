"""Whether a file may be handed out: looked at when it is stored, and asked of the installation's scanner."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from audit.services import record
from files import storage
from files.events import FileScanned
from files.models import File
from files.services.inspecting import Inspection, NotInspected
from files.transport import clamd
from files.transport.clamd import NotScanned
from kernel import outbox
from kernel.errors import Conflict, NotFound
from kernel.transactions import in_all_workspaces, in_workspace

_NOT_INSPECTED = "its mail has too much to look into"
_CLAIM = """
UPDATE files_file SET scan_attempts = scan_attempts + 1, scan_due_at = now() + %(wait)s
WHERE id IN (
    SELECT id FROM files_file WHERE scan_state = 'pending' AND scan_due_at <= now()
    ORDER BY scan_due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING id, workspace_id, storage_key, scan_attempts
"""


def first_state(content: bytes, sniffed: str, *, is_clean: bool, inspection: Inspection) -> tuple[str, str]:
    """The state that a file begins with, and why. `is_clean`: the mail around it was scanned and is clean.

    `inspection` is that of all its files. What there was no time to look into waits for an operator, whatever a scanner says.
    """
    try:
        reason = inspection.hazard(content, sniffed)
    except NotInspected:
        return File.Scan.FAILED, _NOT_INSPECTED
    if reason:
        return File.Scan.INFECTED, reason
    if not clamd.is_configured():
        return File.Scan.NONE, ""
    return (File.Scan.CLEAN if is_clean else File.Scan.PENDING), ""


def ask(content: bytes) -> str | None:
    """What the scanner says of these bytes: the name of what it found, "" for clean, None where there is no answer."""
    if not clamd.is_configured():
        return None
    try:
        return clamd.scan(content)
    except NotScanned:
        return None


def scan_due(*, limit: int = 20) -> int:
    """Scan files that wait for it; how many were taken. No transaction is open while the scanner works."""
    if not clamd.is_configured():
        return 0
    with in_all_workspaces("the scanner serves every workspace"), connection.cursor() as cursor:
        wanted: dict[str, Any] = {"wait": timedelta(seconds=settings.CLAMD_RETRY_SECONDS), "limit": limit}
        cursor.execute(_CLAIM, wanted)
        rows = cursor.fetchall()
    for file_id, workspace_id, key, attempts in rows:
        _scan(file_id, workspace_id, key, attempts)
    return len(rows)


def _scan(file_id: UUID, workspace_id: UUID, key: str, attempts: int) -> None:
    try:
        found = clamd.scan(b"".join(storage.stream(key)))
    except OSError as error:
        if attempts >= settings.CLAMD_MAX_ATTEMPTS:
            _settle(workspace_id, file_id, File.Scan.FAILED, str(error))
        return
    _settle(workspace_id, file_id, File.Scan.INFECTED if found else File.Scan.CLEAN, found)


def _settle(workspace_id: UUID, file_id: UUID, state: File.Scan, reason: str) -> None:
    with in_workspace(workspace_id):
        rows = File.objects.filter(id=file_id, scan_state=File.Scan.PENDING)
        if rows.update(scan_state=state, scan_reason=reason[:200]):
            _tell(workspace_id, file_id, state, reason, "file.scan")


def scan_again(*, workspace_id: UUID, file_id: UUID) -> None:
    """An operator wants another verdict on a file that could not be scanned. Without a scanner it is `none` again.

    It is looked into once more, too, with all the time that a mail has: for want of that it may have been put aside.
    """
    with in_workspace(workspace_id):
        file = _failed(File.objects.filter(id=file_id).first())
    # Outside of any transaction: the store may be remote, and looking takes its time.
    content = b"".join(storage.stream(file.storage_key))
    state, reason = first_state(content, file.mime_sniffed, is_clean=False, inspection=Inspection())
    with in_workspace(workspace_id):
        file = _failed(File.objects.select_for_update().filter(id=file_id).first())
        file.scan_state, file.scan_reason, file.scan_attempts = state, reason, 0
        file.save(update_fields=["scan_state", "scan_reason", "scan_attempts"])
        _tell(workspace_id, file_id, state, reason, "file.scan_again")


def _failed(file: File | None) -> File:
    if file is None:
        raise NotFound
    if file.scan_state != File.Scan.FAILED:
        raise Conflict("Only a file that could not be scanned is scanned again.")
    return file


def _tell(workspace_id: UUID, file_id: UUID, state: str, reason: str, action: str) -> None:
    outbox.emit(FileScanned(workspace_id=workspace_id, file_id=file_id, scan_state=str(state), reason=reason[:200]))
    payload = {"state": str(state), "reason": reason[:200]}
    record(workspace_id=workspace_id, action=action, resource_kind="file", resource_id=file_id, payload=payload)

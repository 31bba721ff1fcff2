"""Reading stored files."""

from collections.abc import Iterator
from uuid import UUID

from files import storage
from files.models import File
from kernel.errors import Conflict, NotFound


class NotYetScanned(Conflict):
    """Nobody gets it before the scanner has said that it is clean."""

    code = "file_not_scanned"


def open_file(*, file_id: UUID) -> tuple[File, Iterator[bytes]]:
    """The row and the bytes of a file of the current workspace, if it may be handed out."""
    file = File.objects.filter(id=file_id).first()
    if file is None:
        raise NotFound
    if file.scan_state == File.Scan.INFECTED:
        raise NotFound("This file was found to be harmful and is kept away.")
    if file.scan_state == File.Scan.PENDING:
        raise NotYetScanned("This file is being scanned for viruses. Try again in a moment.")
    if file.scan_state == File.Scan.FAILED:
        raise NotYetScanned("This file could not be scanned for viruses. Ask an operator to have it scanned again.")
    return file, storage.stream(file.storage_key)


def is_open(scan_state: str) -> bool:
    """Whether a file in this state may be handed out, to people as to agents."""
    return scan_state in (File.Scan.NONE, File.Scan.CLEAN)

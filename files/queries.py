"""Reading stored files."""

import logging
from collections.abc import Iterator
from itertools import chain
from uuid import UUID

from files import storage
from files.models import File
from kernel.errors import Conflict, DomainError, NotFound

logger = logging.getLogger(__name__)


class NotYetScanned(Conflict):
    """Nobody gets it before the scanner has said that it is clean."""

    code = "file_not_scanned"


class Unreadable(DomainError):
    """The store does not give the bytes out."""

    code = "file_unreadable"
    status = 503
    title = "Not available at the moment"


def open_file(*, file_id: UUID) -> tuple[File, Iterator[bytes]]:
    """The row and the bytes of a file of the current workspace, if it may be handed out.

    Reading has begun when this returns: an answer that has started can no longer say that there is nothing to read.
    """
    file = File.objects.filter(id=file_id).first()
    if file is None:
        raise NotFound
    if file.scan_state == File.Scan.INFECTED:
        raise NotFound("This file was found to be harmful and is kept away.")
    if file.scan_state == File.Scan.PENDING:
        raise NotYetScanned("This file is being scanned for viruses. Try again in a moment.")
    if file.scan_state == File.Scan.FAILED:
        raise NotYetScanned(
            "This file could not be looked into, or scanned for viruses. Ask an operator to have it scanned again."
        )
    chunks = storage.stream(file.storage_key)
    try:
        first = next(chunks, b"")
    except Exception as error:
        # Whatever kind of store it is, and whatever it raises.
        logger.exception("stored bytes cannot be read", extra={"file_id": str(file_id)})
        raise Unreadable(
            "The stored bytes cannot be read at the moment. Try again later, or tell an operator."
        ) from error
    return file, chain([first], chunks)


def is_open(scan_state: str) -> bool:
    """Whether a file in this state may be handed out, to people as to agents."""
    return scan_state in (File.Scan.NONE, File.Scan.CLEAN)

"""Reading stored files."""

from collections.abc import Iterator
from uuid import UUID

from files import storage
from files.models import File
from kernel.errors import NotFound


def open_file(*, file_id: UUID) -> tuple[File, Iterator[bytes]]:
    """The row and the bytes of a file of the current workspace; an infected one is not handed out."""
    file = File.objects.filter(id=file_id).first()
    if file is None:
        raise NotFound
    if file.scan_state == File.Scan.INFECTED:
        raise NotFound("This file was found to be harmful and is kept away.")
    return file, storage.stream(file.storage_key)

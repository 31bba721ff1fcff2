"""Where bytes lie: content-addressed under the workspace, on disk or in object storage (settings.STORAGES)."""

from collections.abc import Iterator
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

_CHUNK = 256 * 1024


def key(workspace_id: UUID, sha256: str) -> str:
    """The storage key of a content; guessed by nobody, since it is never shown."""
    return f"{workspace_id}/{sha256[:2]}/{sha256}"


def put(workspace_id: UUID, sha256: str, content: bytes) -> str:
    """Store bytes under their hash and return the key. Storing the same again changes nothing."""
    name = key(workspace_id, sha256)
    if default_storage.exists(name):
        return name
    saved = default_storage.save(name, ContentFile(content))
    if saved != name:
        # A concurrent writer of the same content was first; the copy under the other name is not needed.
        default_storage.delete(saved)
    return name


def stream(name: str) -> Iterator[bytes]:
    """The stored bytes in chunks. Never by a path: the store may be remote (DH-9)."""
    with default_storage.open(name, "rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk

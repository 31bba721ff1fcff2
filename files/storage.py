"""Where bytes lie: content-addressed under the workspace, on disk or in object storage (settings.STORAGES)."""

from collections.abc import Iterator
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

_CHUNK = 256 * 1024


def key(workspace_id: UUID, sha256: str) -> str:
    """The storage key of a content; guessed by nobody, since it is never shown."""
    return f"{workspace_id}/{sha256[:2]}/{sha256}"


class NotStored(OSError):
    """What lies under the name is not the content, and the store did not replace it."""


def put(workspace_id: UUID, sha256: str, content: bytes) -> str:
    """Store bytes under their hash and return the key. Storing the same again changes nothing.

    What is there in another length was cut off when it was written, and is written again. Raises whatever the store does
    when it cannot take them.
    """
    name = key(workspace_id, sha256)
    if _is_whole(name, content):
        return name
    saved = default_storage.save(name, ContentFile(content))
    if saved != name:
        # A store that does not write over what is there; that may be whole by now, if a concurrent writer was first.
        default_storage.delete(saved)
        if not _is_whole(name, content):
            raise NotStored(f"The store keeps what is wrong under {name}: let it write over it (settings.STORAGES).")
    return name


def _is_whole(name: str, content: bytes) -> bool:
    return default_storage.exists(name) and default_storage.size(name) == len(content)


def stream(name: str) -> Iterator[bytes]:
    """The stored bytes in chunks. Never by a path: the store may be remote (DH-9)."""
    with default_storage.open(name, "rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk

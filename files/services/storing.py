"""Keep the bytes of attachments; rows are written by whoever owns the transaction."""

from uuid import UUID

from files import storage


def keep(*, workspace_id: UUID, sha256: str, content: bytes) -> str:
    """Store content before the row that names it: an orphan is harmless, a row without bytes is not."""
    return storage.put(workspace_id, sha256, content)

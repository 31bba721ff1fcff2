"""Facts about stored files."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kernel.events import DomainEvent


@dataclass(frozen=True, kw_only=True)
class FileScanned(DomainEvent):
    """The scanner's verdict on a file: clean, infected (reason: what was found) or failed; pending when asked again."""

    slug: ClassVar[str] = "file.scanned"
    public: ClassVar[bool] = True
    aggregate: ClassVar[str] = "file_id"

    file_id: UUID
    scan_state: str
    reason: str = ""

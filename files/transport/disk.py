"""Files on a disk of this machine, whole or not at all: what has its name is complete, and survives a loss of power.

Object storage promises the same of itself. Django's own class writes under the final name, and what it has begun when the
process ends, or the disk is full, would be taken for the content from then on.
"""

import os
import tempfile
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible

from kernel import clock
from kernel.crash import crash_point

_UNFINISHED: Final = ".unfinished"
# No write takes so long. What is older was left by a process that ended in the middle of it.
_ABANDONED: Final = timedelta(hours=6)


@deconstructible
class Disk(FileSystemStorage):
    """Writes beside the final name, then renames. A name that is taken is written over, as in object storage."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name

    def _save(self, name: str, content: "File[Any]") -> str:
        place = Path(self.path(name))
        folder = place.parent
        _make(folder)
        _sweep(folder)
        descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix=f".{place.name}.", suffix=_UNFINISHED)
        try:
            try:
                _write(descriptor, content)
                if self.file_permissions_mode is not None:
                    os.fchmod(descriptor, self.file_permissions_mode)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(unfinished, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(unfinished)
            raise
        _sync(folder)
        return name


def _write(descriptor: int, content: "File[Any]") -> None:
    for chunk in content.chunks():
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        crash_point("files.writing")


def _make(folder: Path) -> None:
    """The folder, and those around it; each stands in its own before anything lies in it."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync(folder.parent)


def _sweep(folder: Path) -> None:
    """What was begun and abandoned goes with the next write to its folder, so that it cannot pile up."""
    before = (clock.now() - _ABANDONED).timestamp()
    for path in folder.glob(f".*{_UNFINISHED}"):
        # Another writer may sweep at the same time.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()


def _sync(folder: Path) -> None:
    """Names are kept by their folder, which is written on its own."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

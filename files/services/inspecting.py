"""Files that are made to harm whoever opens them: bombs, and archives that write beside their folder.

Directories and headers are read, never more than a bounded part of what is packed; so it costs little, in time as in
memory, and runs while mail is filed. What is spent on the files of one mail is bounded for all of them together: a thousand
small bombs cost what one may.
"""

import bz2
import io
import lzma
import re
import stat
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from files.services import picturing

_MAX_PIXELS: Final = 250_000_000
_MAX_ENTRIES: Final = 10_000
_MAX_DEPTH: Final = 4
_MAX_TOTAL: Final = 2 * 1024**3
# Beyond the first, a file that grows more than a hundredfold is a bomb; office documents grow twentyfold at most.
_SUSPECT: Final = 64 * 1024**2
_MAX_RATIO: Final = 100
# What is kept of everything inside a file, to look for archives in archives.
_BUDGET: Final = 48 * 1024**2
# For all files of one mail (D4). Of the processor's time: a busy machine is nobody's bomb.
_SECONDS: Final = 2.0
_UNPACKED: Final = 1024**3
_LOOKED_INTO: Final = 500
_CHUNK: Final = 256 * 1024
_EOCD: Final = b"PK\x05\x06"
_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
_STREAMS: Final[dict[bytes, Callable[[], Any]]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(memlimit=64 * 1024**2),
}


class _Harmful(Exception):
    """The reason, in a few words."""


class NotInspected(Exception):
    """There was no time left to look into this file, so nobody may say that it is harmless."""


@dataclass
class Inspection:
    """All files of one mail: what may still be spent on them, and what was found, since the same bytes are looked at once."""

    seconds: float = _SECONDS
    unpacked: int = _UNPACKED
    found: dict[bytes, str | None] = field(default_factory=dict)

    def hazard(self, content: bytes, sniffed: str) -> str:
        """Why a file is kept away from everybody, in a few words; empty for nearly all. Raises NotInspected."""
        key = sha256(content).digest()
        if key not in self.found:
            budget = _Budget(self.unpacked, time.thread_time() + self.seconds)
            try:
                self.found[key] = _hazard(content, sniffed, budget)
            except NotInspected:
                self.found[key] = None
            finally:
                self.seconds, self.unpacked = budget.until - time.thread_time(), budget.unpacked
        reason = self.found[key]
        if reason is None:
            raise NotInspected
        return reason


@dataclass
class _Budget:
    """Of one file: `unpacked` and `until` are what its mail has left, `left` is what is kept of this one."""

    unpacked: int
    until: float
    left: int = _BUDGET

    def spend(self, size: int = 0) -> None:
        """Before each piece of work that a stranger can make long."""
        self.unpacked -= size
        if self.unpacked < 0 or time.thread_time() > self.until:
            raise NotInspected


def _hazard(content: bytes, sniffed: str, budget: _Budget) -> str:
    try:
        if sniffed.startswith("image/") and sniffed != "image/svg+xml":
            budget.spend()
            return "image bomb" if picturing.pixels(content) > _MAX_PIXELS else ""
        _look(content, 0, budget)
    except _Harmful as found:
        return str(found)
    return ""


def _look(content: bytes, depth: int, budget: _Budget) -> None:
    head = content[:6]
    opener = next((opener for magic, opener in _STREAMS.items() if head.startswith(magic)), None)
    if depth > _MAX_DEPTH and (opener or head.startswith(b"PK")):
        raise _Harmful("archives nested too deep")
    if opener is not None:
        _look(_unpacked(content, opener, budget), depth + 1, budget)
    elif head.startswith(b"PK\x03\x04") or _EOCD in content[-65_557:]:
        _look_into_zip(content, depth, budget)
    elif content[:512].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and _ENTITY.search(content[:65_536]):
        raise _Harmful("entities that grow")


def _unpacked(content: bytes, opener: Callable[[], Any], budget: _Budget) -> bytes:
    """The beginning of a packed stream; _Harmful when it grows without end. Counts all of it, keeps what may be looked at."""
    machine, fed, size = opener(), io.BytesIO(content), 0
    kept: list[bytes] = []
    pending = b""
    try:
        while not machine.eof:
            budget.spend()
            if not pending and getattr(machine, "needs_input", True) and not (pending := fed.read(_CHUNK)):
                break
            piece = machine.decompress(pending, _CHUNK * 4)
            pending = getattr(machine, "unconsumed_tail", b"")
            size += len(piece)
            budget.spend(len(piece))
            if size > _SUSPECT and size > _MAX_RATIO * len(content):
                raise _Harmful("archive bomb")
            if size > _SUSPECT * 4:
                break
            if budget.left > 0:
                kept.append(piece)
                budget.left -= len(piece)
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
        return b""
    return b"".join(kept)


def _look_into_zip(content: bytes, depth: int, budget: _Budget) -> None:
    if _declared_entries(content) > _MAX_ENTRIES:
        raise _Harmful("archive with too many entries")
    budget.spend()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _judge(entries, len(content))
            for entry in entries[:_LOOKED_INTO]:
                _look_inside(archive, entry, depth, budget)
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError, struct.error, EOFError, zlib.error):
        # What no reader opens harms none. RuntimeError: a password is missing, or the compression is not known.
        return


def _declared_entries(content: bytes) -> int:
    """From the end of the file, before a directory of millions of entries is read; 0xFFFF stands for more than that."""
    at = content.rfind(_EOCD, max(0, len(content) - 65_557))
    if at < 0 or at + 12 > len(content):
        return 0
    entries, size = struct.unpack_from("<H", content, at + 10)[0], struct.unpack_from("<I", content, at + 12)[0]
    # The count wraps around; the size of the directory does not. An entry has 46 bytes at least.
    return max(int(entries), int(size) // 46 if size > _MAX_ENTRIES * 300 else 0)


def _judge(entries: list[zipfile.ZipInfo], packed: int) -> None:
    total = sum(entry.file_size for entry in entries)
    if total > _MAX_TOTAL or (total > _SUSPECT and total > _MAX_RATIO * packed):
        raise _Harmful("archive bomb")
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise _Harmful("archive with overlapping entries")
        end = entry.header_offset + 30 + entry.compress_size
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _Harmful("archive with links")
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
            raise _Harmful("archive that writes outside its folder")


def _look_inside(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, depth: int, budget: _Budget) -> None:
    """Archives in it, and documents whose entities grow."""
    if entry.flag_bits & 1 or entry.is_dir() or budget.left <= 0:
        return
    budget.spend()
    with archive.open(entry) as packed:
        head = packed.read(8)
        if head.startswith((b"PK", *_STREAMS)):
            inside = head + packed.read(max(0, min(budget.left, _BUDGET)))
            budget.left -= len(inside)
            budget.spend(len(inside))
            _look(inside, depth + 1, budget)
        elif entry.filename.lower().endswith((".xml", ".rels", ".svg")) and _ENTITY.search(head + packed.read(16_384)):
            raise _Harmful("entities that grow")

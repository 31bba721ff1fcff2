"""The protocol of ClamAV's daemon: bytes go in chunks (`zINSTREAM`), one line comes back."""

import re
import socket
import struct
from contextlib import closing

from django.conf import settings

_CHUNK = 64 * 1024
_LONGEST_ANSWER = 4096
_ANSWER = re.compile(r"(?:stream|instream\([^)]*\)):\s*(?P<said>.*)", re.IGNORECASE | re.DOTALL)


class NotScanned(OSError):
    """The scanner could not be asked, or gave no verdict; the text says why."""


def is_configured() -> bool:
    """Whether this installation has a scanner."""
    return bool(settings.CLAMD_SOCKET or settings.CLAMD_HOST)


def scan(content: bytes) -> str:
    """The name of what was found; empty for clean content. Raises NotScanned."""
    try:
        with closing(_connect()) as link:
            link.sendall(b"zINSTREAM\0")
            for start in range(0, len(content), _CHUNK):
                piece = content[start : start + _CHUNK]
                link.sendall(struct.pack("!I", len(piece)) + piece)
            link.sendall(struct.pack("!I", 0))
            return _verdict(_answer(link))
    except NotScanned:
        raise
    except OSError as error:
        raise NotScanned(f"The scanner cannot be asked: {str(error) or type(error).__name__}") from error


def _connect() -> socket.socket:
    seconds: float = settings.CLAMD_TIMEOUT_SECONDS
    if not settings.CLAMD_SOCKET:
        return socket.create_connection((settings.CLAMD_HOST, settings.CLAMD_PORT), timeout=seconds)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(seconds)
    try:
        link.connect(settings.CLAMD_SOCKET)
    except OSError:
        link.close()
        raise
    return link


def _answer(link: socket.socket) -> str:
    got = b""
    while b"\0" not in got and len(got) < _LONGEST_ANSWER:
        piece = link.recv(_LONGEST_ANSWER)
        if not piece:
            break
        got += piece
    return got.partition(b"\0")[0].decode("utf-8", "replace").strip()


def _verdict(answer: str) -> str:
    found = _ANSWER.fullmatch(answer)
    said = (found["said"] if found else answer).strip()
    if found and said == "OK":
        return ""
    if found and said.endswith(" FOUND"):
        return said.removesuffix(" FOUND").strip() or "something"
    raise NotScanned(f"The scanner gave no verdict: {said[:200] or 'silence'}")

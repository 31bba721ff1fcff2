"""Bytes from outside, handed out so that no browser shows, sniffs or runs them (D3)."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from django.http import HttpResponseBase, StreamingHttpResponse

OCTETS = "application/octet-stream"
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

_PATHS = re.compile(r"[/\\]")
# What file systems and shells take for more than a letter of a name.
_UNFIT = re.compile(r'[<>:"|?*%$`~;&\'!^#{}\[\]=]')
# Names that Windows keeps for devices, whatever follows the first dot.
_DEVICES = re.compile(r"^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_LONGEST = 150
_LONGEST_EXTENSION = 20


def download(
    chunks: Iterable[bytes], filename: str, content_type: str = OCTETS, *, size: int | None = None
) -> StreamingHttpResponse:
    """A streamed answer that is always saved as a file, under a harmless name. With `size`, in bytes, whoever gets less
    of it notices."""
    response = StreamingHttpResponse(chunks, content_type=content_type)
    if size is not None:
        response["Content-Length"] = str(size)
    harmless(response)["Content-Disposition"] = disposition(filename)
    return response


def harmless(response: HttpResponseBase) -> Any:
    """The answer with the headers that keep its content from acting."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "private, no-store"
    return response


def disposition(filename: str) -> str:
    """RFC 6266: a plain name for everybody, and the true one for who reads it."""
    name = safe_name(filename)
    plain = re.sub(r"[^A-Za-z0-9._ ()+,@-]", "_", name)
    exact = f"; filename*=UTF-8''{quote(name, safe='')}" if plain != name else ""
    return f'attachment; filename="{plain}"{exact}'


def safe_name(filename: str) -> str:
    """One visible name without path, control or direction, not hidden, no device, of bounded length; never empty."""
    shown = "".join(c for c in _PATHS.split(filename)[-1] if unicodedata.category(c)[0] not in "CZ" or c == " ")
    name = _UNFIT.sub("_", " ".join(shown.split())).strip(". ")
    if _DEVICES.match(name):
        name = f"_{name}"
    return _shortened(name) or "file"


def _shortened(name: str) -> str:
    if len(name.encode()) <= _LONGEST:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > _LONGEST_EXTENSION or not extension.isascii():
        stem, dot, extension = name, "", ""
    room = _LONGEST - len(dot + extension)
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + extension

"""File names: what the sender wrote, made harmless; and a name for a part that has none."""

from __future__ import annotations

import re

from inbox.mime.sanitise import name_text
from inbox.mime.types import ParsedAttachment

_PATH = re.compile(r"[/\\]")
_UNFIT = re.compile(r'[<>"|?*]')
_MAX = 255
_MAX_EXTENSION = 20
_EXTENSIONS = {
    "message/rfc822": "eml",
    "text/plain": "txt",
    "text/html": "html",
    "text/calendar": "ics",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "image/heic": "heic",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/pgp-signature": "asc",
    "application/pkcs7-signature": "p7s",
    "application/pkcs7-mime": "p7m",
    "application/pgp-encrypted": "asc",
    "application/ms-tnef": "dat",
    "text/csv": "csv",
    "text/vcard": "vcf",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
}
_STEMS = {"message/rfc822": "message", "text/calendar": "invitation", "application/ms-tnef": "winmail"}


def safe_filename(name: str | None) -> str | None:
    """No path, no control or bidi character, no leading dots, at most 255 bytes of UTF-8; None if nothing is left."""
    if not name:
        return None
    cleaned = _UNFIT.sub("_", name_text(_PATH.split(name.rstrip("/\\ "))[-1])).strip().strip(".").strip()
    if not cleaned:
        return None
    return _shortened(cleaned)


def _shortened(name: str) -> str:
    if len(name.encode()) <= _MAX:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > _MAX_EXTENSION:
        stem, dot, extension = name, "", ""
    room = _MAX - len(f"{dot}{extension}".encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + extension


def display_name(attachment: ParsedAttachment) -> str:
    """The sender's name, or one made from the type: `message.eml`, `image-1.2.png`."""
    if attachment.filename:
        return attachment.filename
    kind = attachment.content_type if attachment.content_type in _EXTENSIONS else attachment.sniffed_type
    stem = _STEMS.get(kind, kind.partition("/")[0] or "attachment")
    return f"{stem}-{attachment.part}.{_EXTENSIONS.get(kind, 'bin')}"

"""What a file is by its first bytes. The sender's word decides nothing that a browser will act upon."""

from __future__ import annotations

import re

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"#!", "text/x-shellscript"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x78\x9f\x3e\x22", "application/ms-tnef"),
    (0, b"L\x00\x00\x00\x01\x14\x02\x00", "application/x-ms-shortcut"),
    (0, b"BEGIN:VCALENDAR", "text/calendar"),
    (0, b"BEGIN:VCARD", "text/vcard"),
    (0, b"-----BEGIN PGP MESSAGE", "application/pgp-encrypted"),
    (0, b"-----BEGIN PGP SIGNATURE", "application/pgp-signature"),
)
_ZIP_KINDS = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
    (b"mimetypeapplication/epub+zip", "application/epub+zip"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
)
_MARKUP = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|script|iframe|svg|\?xml|!--|a\s|div|img|table|meta|style)", re.IGNORECASE
)
_SVG = re.compile(rb"<svg[\s>]", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_HEAD = 2048


def sniff(data: bytes) -> str:
    """A media type from content alone; text is only called text when it holds no control bytes."""
    if not data:
        return "application/x-empty"
    head = data[:_HEAD]
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(data)
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset):
            return kind
    return _textual(head)


def _zip_kind(data: bytes) -> str:
    window = data[:8192]
    return next((kind for mark, kind in _ZIP_KINDS if mark in window), "application/zip")


def _textual(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1024]
    if _SVG.search(start):
        return "image/svg+xml"
    if _MARKUP.match(start):
        return "text/xml" if start[:5].lower() == b"<?xml" else "text/html"
    if start.startswith(b"%!PS"):
        return "application/postscript"
    return "application/octet-stream" if _CONTROL.search(head) else "text/plain"

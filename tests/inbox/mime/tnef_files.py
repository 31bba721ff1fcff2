"""Makes small valid winmail.dat files (MS-OXTNEF) for the tests."""

from __future__ import annotations

import struct

MELA = 0x414C454D


def attribute(level: int, name: int, kind: int, data: bytes) -> bytes:
    return struct.pack("<BHHL", level, name, kind, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)


def padded(data: bytes) -> bytes:
    return struct.pack("<L", len(data)) + data + bytes(-len(data) % 4)


def unicode_property(name: int, value: str) -> bytes:
    return struct.pack("<HHL", 0x1F, name, 1) + padded((value + "\0").encode("utf-16-le"))


def binary_property(name: int, value: bytes) -> bytes:
    return struct.pack("<HHL", 0x102, name, 1) + padded(value)


def integer_property(name: int, value: int) -> bytes:
    return struct.pack("<HHL", 0x03, name, value)


def properties(*items: bytes) -> bytes:
    return struct.pack("<L", len(items)) + b"".join(items)


def uncompressed_rtf(rtf: bytes) -> bytes:
    return struct.pack("<LLLL", len(rtf) + 12, len(rtf), MELA, 0) + rtf


def attached_file(short: bytes, long: str, content: bytes) -> bytes:
    return (
        attribute(2, 0x9002, 0x06, bytes(14))
        + attribute(2, 0x8010, 0x01, short + b"\0")
        + attribute(2, 0x800F, 0x06, content)
        + attribute(2, 0x9005, 0x06, properties(unicode_property(0x3707, long)))
    )


def winmail(*, body: bytes = b"", files: bytes = b"", codepage: int = 1252) -> bytes:
    """`body` is a list of properties made with the functions above."""
    return (
        b"\x78\x9f\x3e\x22\x01\x00"
        + attribute(1, 0x9006, 0x08, struct.pack("<L", 0x10000))
        + attribute(1, 0x9007, 0x06, struct.pack("<LL", codepage, 0))
        + (attribute(1, 0x9003, 0x06, body) if body else b"")
        + files
    )

"""The words between a parser child and its parent: a fixed head, then the bytes; msgpack comes back."""

from __future__ import annotations

import struct

import msgspec

from inbox.mime.types import ParsedMail

# What to do (one byte), CPU seconds (double), length of what follows (eight bytes).
REQUEST = struct.Struct(">cdQ")
ANSWER = struct.Struct(">Q")
MAIL, BODY, HTML = b"M", b"B", b"H"

encoder = msgspec.msgpack.Encoder()
mail_decoder = msgspec.msgpack.Decoder(ParsedMail)
text_decoder = msgspec.msgpack.Decoder(str)
html_decoder = msgspec.msgpack.Decoder(str | None)
EXIT_MEMORY = 86
EXIT_ORPHAN = 87

"""How much of a mail is read. Each figure is far above honest mail and far below harm."""

from __future__ import annotations

import msgspec

MEBIBYTE = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Above a limit the mail is `parsed_partial`; above a `quarantine_*` figure it is `quarantined`."""

    size: int = 40 * MEBIBYTE
    oversize_window: int = MEBIBYTE
    header_bytes: int = 256 * 1024
    header_fields: int = 2_000
    header_value: int = 32 * 1024
    encoded_words: int = 2_000
    commas: int = 4_000
    addresses: int = 1_000
    references: int = 200
    subject: int = 2_000
    parts: int = 1_000
    depth: int = 25
    nested_messages: int = 25
    boundary_candidates: int = 20_000
    quarantine_boundaries: int = 20_000
    quarantine_depth: int = 100
    text_bytes: int = 2 * MEBIBYTE
    html_to_text: int = 512 * 1024
    attachment_bytes: int = 40 * MEBIBYTE
    tnef: int = 5
    warnings: int = 50


DEFAULT_LIMITS = Limits()

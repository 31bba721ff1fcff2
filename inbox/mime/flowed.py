"""format=flowed (RFC 3676): paragraphs that the sender broke with a trailing space become lines again."""

from __future__ import annotations

import re

_QUOTE = re.compile(r">*")


def unflow(text: str, *, delete_space: bool = False) -> str:
    """Quoted lines keep their depth, `-- ` stays a signature line (§4.3), space-stuffing is undone (§4.4)."""
    lines: list[str] = []
    flowing = -1
    for raw in text.split("\n"):
        mark = _QUOTE.match(raw)
        depth = mark.end() if mark else 0
        line = raw[depth:]
        line = line.removeprefix(" ")
        signature = line in {"-- ", "--"}
        if flowing == depth and line and not signature:
            lines[-1] += line
        else:
            lines.append((">" * depth + " " if depth else "") + line)
        flowing = depth if line.endswith(" ") and not signature else -1
        if flowing >= 0 and delete_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)

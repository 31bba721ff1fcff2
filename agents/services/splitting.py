"""Cut a document into passages that each answer something on their own. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARS = 800
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,})\s*$")


@dataclass(frozen=True)
class Piece:
    """A passage with the headings above it."""

    heading: str
    text: str


def split(content: str, *, limit: int = MAX_CHARS) -> list[Piece]:
    """Passages of at most `limit` characters: a new one at each heading, else whole paragraphs, else sentences."""
    pieces: list[Piece] = []
    for heading, paragraphs in _sections(content):
        held = ""
        for part in (part for paragraph in paragraphs for part in _fitting(paragraph, limit)):
            if held and len(held) + len(part) + 2 > limit:
                pieces.append(Piece(heading, held))
                held = ""
            held = f"{held}\n\n{part}" if held else part
        if held:
            pieces.append(Piece(heading, held))
    return pieces


def _sections(content: str) -> Iterator[tuple[str, list[str]]]:
    """Each heading path with the paragraphs below it."""
    path: list[tuple[int, str]] = []
    paragraphs: list[str] = []
    lines: list[str] = []
    for line in [*content.splitlines(), None]:
        heading = _HEADING.match(line) if line is not None else None
        underlined = line is not None and _UNDERLINE.match(line) and len(lines) == 1
        if line is None or heading or underlined or not line.strip():
            if lines and not underlined:
                paragraphs.append("\n".join(lines))
            title = lines[0].strip() if underlined else heading.group(2) if heading else ""
            lines = []
            if (title or line is None) and paragraphs:
                yield _title(path), paragraphs
                paragraphs = []
            if title:
                level = len(heading.group(1)) if heading else 1
                path = [(depth, name) for depth, name in path if depth < level] + [(level, title)]
        else:
            lines.append(line.rstrip())


def _title(path: list[tuple[int, str]]) -> str:
    return " › ".join(name for _, name in path)[:200]


def _fitting(paragraph: str, limit: int) -> Iterator[str]:
    """A paragraph whole, or its sentences gathered up to the limit, or hard cuts of what has no sentences."""
    if len(paragraph) <= limit:
        yield paragraph
        return
    held = ""
    for sentence in re.split(r"(?<=[.!?…])\s+|\n", paragraph):
        for start in range(0, len(sentence), limit):
            part = sentence[start : start + limit]
            if held and len(held) + len(part) + 1 > limit:
                yield held
                held = ""
            held = f"{held} {part}" if held else part
    if held:
        yield held

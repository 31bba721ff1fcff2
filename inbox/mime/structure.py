"""The MIME tree (RFC 2046 §5) found in one pass without recursion, and which leaves are body text (RFC 8621 §4.1.4)."""

from __future__ import annotations

import re
import sys

from inbox.mime.headers import Header, read_header
from inbox.mime.limits import Limits
from inbox.mime.params import split_value

# What is written behind a closing delimiter is no part of a boundary unless it looks like more of one.
_TAIL = re.compile(rb"(--)?[ \t]*\r?(?:\n|\Z)|(--)[^\w\n=-][^\n]*(?:\n|\Z)")
_GUESS = re.compile(rb"^--([^\s-][^\s]{0,69})[ \t]*\r?\n", re.MULTILINE)
# A delimiter line is followed by the header of a part.
_OPENING = re.compile(rb"^--(\S{1,70})[ \t]*\r?\nContent-[A-Za-z-]{1,40}:", re.MULTILINE | re.IGNORECASE)
_ENCODING = re.compile(r"[\w-]+")
_MAX_BOUNDARY = 1_000
_NEVER = sys.maxsize


class Part:
    """One node. A leaf has its body region in the raw bytes; `open_ended` when the mail stopped inside it."""

    __slots__ = (
        "children",
        "declared",
        "disposition",
        "disposition_params",
        "encoding",
        "end",
        "header",
        "index",
        "kind",
        "number",
        "open_ended",
        "params",
        "parent",
        "start",
    )

    def __init__(self, header: Header, parent: Part | None, start: int, default: str) -> None:
        self.header = header
        self.parent = parent
        self.start = start
        self.end = start
        self.open_ended = False
        self.children: list[Part] = []
        self.index = len(parent.children) if parent is not None else 0
        self.number: str = str(self.index + 1)  # as IMAP numbers them (RFC 3501 §6.4.5)
        if parent is not None and parent.parent is not None:
            self.number = f"{parent.number}.{self.number}"
        declared = header.get("content-type") if parent is None else header.last_type or ""
        self.kind, self.params = split_value(declared) if declared else (default, {})
        if "/" not in self.kind or self.kind.startswith("/"):
            self.kind = {"text": "text/plain", "html": "text/html"}.get(self.kind, default)
        # What its sender calls it, also where it is read as something else.
        self.declared = self.kind
        disposition = header.get("content-disposition")
        self.disposition, self.disposition_params = split_value(disposition) if disposition else ("", {})
        transfer = header.get("content-transfer-encoding")
        self.encoding = _encoding(transfer) if transfer else ""

    @property
    def is_multipart(self) -> bool:
        return self.kind.startswith("multipart/")

    @property
    def named(self) -> bool:
        return _names(self.disposition_params, "filename") or _names(self.params, "name")


def _names(params: dict[str, str], wanted: str) -> bool:
    """A name of blanks is none."""
    return any(key.partition("*")[0] == wanted and value.strip() for key, value in params.items())


def _encoding(value: str) -> str:
    match = _ENCODING.search(value.lower())
    return match[0] if match else ""


class Tree:
    """All leaves in order, and how the walk ended."""

    __slots__ = ("leaves", "overflow", "root", "warnings")

    def __init__(self, root: Part) -> None:
        self.root = root
        self.leaves: list[Part] = []
        self.overflow: str | None = None
        self.warnings: list[str] = []


class _Level:
    """An open multipart: where its next delimiter line is, searched for only when passed."""

    __slots__ = ("mark", "next_at", "part")

    def __init__(self, part: Part, mark: bytes) -> None:
        self.part = part
        self.mark = mark
        self.next_at = -1


class _Walker:
    """Positions are those of the LF before a delimiter line: that line end belongs to the delimiter."""

    def __init__(self, raw: bytes, limits: Limits, root: Part) -> None:
        self.raw = raw
        self.limits = limits
        self.tree = Tree(root)
        self.levels: list[_Level] = []
        self.candidates = 0
        self.parts = 1
        self.unclosed = 0

    def walk(self) -> Tree:
        position = self.enter(self.tree.root)
        while self.levels:
            level, at = self.nearest(position)
            if level is None:
                break
            while self.levels[-1] is not level:  # an outer delimiter ends every inner multipart (RFC 2046 §5.1.2)
                self.leave(at)
                self.unclosed += 1
            tail = _TAIL.match(self.raw, at + len(level.mark))
            position = (tail.end() if tail else at + 1) - 1
            if tail is not None and (tail[1] or tail[2]):
                self.leave(at)
            elif position + 1 >= len(self.raw):
                break  # a delimiter line and nothing after it opens no part
            elif self.parts >= self.limits.parts:
                self.tree.overflow = f"more than {self.limits.parts} parts"
                break
            else:
                position = self.open_part(level.part, position + 1)
        while self.levels:
            self.leave(len(self.raw))
        return self.tree

    def open_part(self, parent: Part, start: int) -> int:
        """A part starts after a delimiter line; its header ends at the latest where the next delimiter is."""
        self.parts += 1
        level, at = self.nearest(start - 1)
        stop = len(self.raw) if level is None else at + 1
        header = read_header(self.raw, start, max(start, stop), self.limits)
        default = "message/rfc822" if parent.kind == "multipart/digest" else "text/plain"
        part = Part(header, parent, header.body_start, default)
        parent.children.append(part)
        return self.enter(part)

    def enter(self, part: Part) -> int:
        """Multiparts open a level; everything else is a leaf up to the next delimiter of any open level."""
        mark = _mark(part, self.raw)
        if mark is not None and len(self.levels) < self.limits.depth:
            self.levels.append(_Level(part, mark))
        else:
            if mark is not None:
                self.tree.overflow = f"nested deeper than {self.limits.depth}"
            self.leaf(part)
        return max(part.start - 1, 0)

    def leaf(self, part: Part) -> None:
        level, at = self.nearest(max(part.start - 1, 0))
        part.end = self.end_of_mail(part) if level is None else max(part.start, _before_line_end(self.raw, at))
        self.tree.leaves.append(part)

    def end_of_mail(self, part: Part) -> int:
        """No delimiter follows: the mail breaks off here, unless its last line carries the closing one at its end.

        Programs forget one closing line, or half of it; a mail that lacks two of them has not arrived whole.
        """
        if not self.levels:
            return len(self.raw)
        closing = self.levels[-1].mark[1:] + b"-"
        found = self.raw.rfind(closing, max(part.start, len(self.raw) - len(closing) - 5))
        if found >= 0 and not self.raw[found + len(closing) :].strip(b"- \t\r\n"):
            return found
        part.open_ended = self.unclosed + len(self.levels) > 1
        return len(self.raw)

    def leave(self, at: int) -> None:
        """A multipart without a single delimiter line is kept as the text that it is."""
        part = self.levels.pop().part
        if not part.children:
            part.end = max(part.start, _before_line_end(self.raw, at))
            part.kind = "text/plain"
            part.open_ended = True
            self.tree.leaves.append(part)
            self.tree.warnings.append("structure: a multipart without parts, read as text")

    def nearest(self, position: int) -> tuple[_Level | None, int]:
        """The nearest delimiter line of the open levels; the innermost wins where two are equal."""
        best: _Level | None = None
        nearest = _NEVER
        for level in reversed(self.levels):
            if level.next_at < position:
                level.next_at = self.search(level.mark, position)
            if level.next_at < nearest:
                best, nearest = level, level.next_at
        return best, nearest

    def search(self, mark: bytes, position: int) -> int:
        at = self.raw.find(mark, position)
        while at >= 0:
            if _TAIL.match(self.raw, at + len(mark)) is not None:
                return at
            self.candidates += 1
            if self.candidates > self.limits.boundary_candidates:
                self.tree.overflow = "a flood of lines that look like boundaries"
                break
            at = self.raw.find(mark, at + 1)
        return _NEVER


def _before_line_end(raw: bytes, at: int) -> int:
    return at - 1 if raw[at - 1 : at] == b"\r" else at


def _mark(part: Part, raw: bytes) -> bytes | None:
    """LF, two hyphens, boundary. A missing or absurd boundary parameter is guessed from the first such line."""
    if not part.is_multipart:
        return None
    boundary = (part.params.get("boundary") or "").rstrip(" \t")
    if boundary and len(boundary) <= _MAX_BOUNDARY:
        mark = b"\n--" + boundary.encode("latin-1", "replace")
        return mark if part.parent is not None else _present(mark, part, raw)
    guess = _GUESS.search(raw, part.start, part.start + 64 * 1024)
    if guess is None or raw.find(b"\n--" + guess[1], guess.end() - 1) < 0:
        return None
    return b"\n--" + guess[1]


def _present(mark: bytes, part: Part, raw: bytes) -> bytes:
    """The declared mark of a whole mail, or the one that its first delimiter line has when it has no such line."""
    if raw.find(mark, max(part.start - 1, 0)) >= 0:
        return mark
    opening = _OPENING.search(raw, part.start, part.start + 64 * 1024)
    return mark if opening is None else b"\n--" + opening[1]


def read_tree(raw: bytes, header: Header, limits: Limits) -> Tree:
    """The tree of a whole message whose header block has been read."""
    return _Walker(raw, limits, Part(header, None, header.body_start, "text/plain")).walk()

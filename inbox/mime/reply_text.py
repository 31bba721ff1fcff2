"""What the writer added: a mail without the mail it answers and without its signature.

The rule above all others: words of the writer are never hidden for good. The full text is kept beside,
and a text that would be trimmed to nothing is returned whole (CW-5).
"""

from __future__ import annotations

import msgspec

from inbox.mime import reply_marks as marks
from inbox.mime.contact_data import is_contact, is_list_footer
from inbox.mime.mail_role import Role
from inbox.mime.reply_lines import Line, read_lines

_MAX_LINES = 2_000
_TAIL_LINES = 15
_SHORT = 120
_ROUNDS = 4
_LONG_QUOTE = 60


class ReplyText(msgspec.Struct, frozen=True):
    """`text` is what was added; `quoted` and `signature` are what was taken off, in the order of the mail."""

    text: str
    quoted: str = ""
    signature: str = ""
    forwarded: bool = False


def reply_text(text: str, html: str | None = None, role: Role = "reply") -> ReplyText:
    """`html` serves when there is no text: its own quote marks are then used first.

    What is forwarded is what was sent, so nothing of it goes. In a mail that answers nothing, a header block is what was written.
    """
    if not text.strip() and html:
        from inbox.mime.html_text import html_to_text, html_without_quote

        text = html_without_quote(html) or html_to_text(html)
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\ufeff")
    lines = read_lines(text.split("\n", _MAX_LINES))
    forwarded = any(_is_forward_marker(line) for line in lines)
    if role == "forward":
        return ReplyText(text.strip(), forwarded=forwarded)
    if role == "first":
        _read_as_text(lines)
    kept, quoted = _without_quoted(lines)
    kept, signature = _without_tail(kept)
    result = _text(kept)
    if not result:
        return ReplyText(text.strip(), forwarded=forwarded)
    return ReplyText(result, _text(quoted), _text(signature), forwarded)


def _is_forward_marker(line: Line) -> bool:
    return line.kind == "m" and marks.FORWARDED.search(line.text) is not None


def _read_as_text(lines: list[Line]) -> None:
    """A form with its fields, or a mail passed on under a subject of its own: nobody is answered."""
    passed_on = False
    for line in lines:
        passed_on = passed_on or _is_forward_marker(line)
        if line.kind == "h" or (passed_on and line.kind in "am") or _is_forward_marker(line):
            line.kind = "t"


def _text(lines: list[Line]) -> str:
    return "\n".join(line.text for line in lines).strip("\n").rstrip().lstrip("\n")


def _has_text(lines: list[Line]) -> bool:
    return any(line.kind == "t" for line in lines)


def _without_quoted(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """The first opener decides; one with nothing above it is taken out and the next one asked."""
    quoted: list[Line] = []
    for _ in range(_ROUNDS):
        start = next((i for i, line in enumerate(lines) if line.kind in "amh"), None)
        if start is None:
            break
        stop = _opener_end(lines, start)
        above, opener, below = lines[:start], lines[start:stop], lines[stop:]
        replied = opener[0].kind == "a" and _is_interleaved(below, _has_text(above))
        if _has_text(above) and not replied:
            return above, quoted + opener + below
        if opener[0].kind != "a":
            break
        quoted += opener
        lines = above + (below if _has_text(above) else _bottom_posted(below, quoted))
        if replied:
            break
    return _without_trailing_quote(lines, quoted)


def _opener_end(lines: list[Line], start: int) -> int:
    kind, group = lines[start].kind, lines[start].group
    stop = start + 1
    while stop < len(lines) and lines[stop].kind == kind and lines[stop].group == group:
        stop += 1
    return stop


def _is_interleaved(below: list[Line], text_above: bool) -> bool:
    """Quoted lines with the writer's words after them; a footer or a signature is not such words."""
    first = next((line for line in below if line.kind != "e"), None)
    if first is None or first.kind != "q":
        return False
    seen_quote = False
    for position, line in enumerate(below):
        if line.kind == "q":
            seen_quote = True
        elif line.kind in "amh" or (line.kind == "d" and _ends_in_footer(below, position)):
            return False
        elif line.kind == "t" and seen_quote and not _is_stray(below, position, text_above):
            return True
    return False


def _ends_in_footer(lines: list[Line], position: int) -> bool:
    """Below the delimiter there is nothing but how to reach somebody or a list."""
    if marks.SIGNATURE_DASHES.match(lines[position].text):
        return True
    if len(lines) - position > _TAIL_LINES:
        return False
    return _is_footer([later.text for later in lines[position + 1 :] if later.kind not in "eqs"])


def _is_footer(texts: list[str]) -> bool:
    return is_contact(texts) or is_list_footer(texts)


def _is_stray(lines: list[Line], position: int, text_above: bool) -> bool:
    """The rest of a quoted line that some program broke in two, or the footer of a list."""
    line = lines[position]
    if marks.BOILERPLATE.match(line.text):
        return True
    before = lines[position - 1] if position else None
    after = lines[position + 1] if position + 1 < len(lines) else None
    broken = before is not None and before.kind == "q" and len(before.text) > _LONG_QUOTE
    return text_above and broken and after is not None and after.kind == "q" and len(line.text) < _LONG_QUOTE


def _bottom_posted(below: list[Line], quoted: list[Line]) -> list[Line]:
    """One quote, then the answer: the quote goes. Several quotes with answers between: they stay for the sense."""
    first = next((i for i, line in enumerate(below) if line.kind != "e"), None)
    if first is None or below[first].kind != "q":
        return below
    stop = first
    while stop < len(below) and below[stop].kind in "qe":
        stop += 1
    if not _has_text(below[stop:]) or any(line.kind == "q" for line in _up_to_last_text(below[stop:])):
        return below
    quoted += below[:stop]
    return below[stop:]


def _up_to_last_text(lines: list[Line]) -> list[Line]:
    last = max((i for i, line in enumerate(lines) if line.kind == "t"), default=-1)
    return lines[: last + 1]


def _without_trailing_quote(lines: list[Line], quoted: list[Line]) -> tuple[list[Line], list[Line]]:
    if not _has_text(lines):
        return lines, quoted
    end = len(lines)
    while end and lines[end - 1].kind in "qe":
        end -= 1
    if not any(line.kind == "q" for line in lines[end:]):
        return lines, quoted
    start = end
    while start and lines[start - 1].kind == "a":
        start -= 1
    # An attribution with nothing above it has been asked before, and stays where it is all there is.
    end = start if _has_text(lines[:start]) else end
    return lines[:end], quoted + lines[end:]


def _without_tail(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Signatures from the end upwards: device lines, delimiters without anything after, `-- ` blocks."""
    end = len(lines)
    while True:
        while end and lines[end - 1].kind in "esd":
            end -= 1
        cut = _signature_start(lines[:end])
        if cut is None or not _has_text(lines[:cut]):
            break
        end = cut
    if end == 0:
        return lines, []
    trailing = lines[end:]
    while trailing and trailing[0].kind == "e":
        trailing = trailing[1:]
    kept, _ = _without_trailing_quote(lines[:end], [])
    return kept, trailing


def _signature_start(lines: list[Line]) -> int | None:
    """The last delimiter, when what follows it is short enough to be a name and an address (RFC 3676 §4.3)."""
    for position in range(len(lines) - 1, max(-1, len(lines) - _TAIL_LINES - 1), -1):
        line = lines[position]
        if line.kind in "qamh":
            return None
        if line.kind == "d":
            tail = [later.text for later in lines[position + 1 :] if later.kind != "e"]
            if marks.SIGNATURE_DASHES.match(line.text):
                return position if len(tail) <= _TAIL_LINES and all(len(text) <= _SHORT for text in tail) else None
            return position if _stands_apart(lines, position) and _is_footer(tail) else None
    return None


def _stands_apart(lines: list[Line], position: int) -> bool:
    """Any other row of signs also underlines headings, rules tables and introduces what follows."""
    if position and lines[position - 1].kind != "e":
        return False
    above = next((line.text.rstrip() for line in reversed(lines[:position]) if line.kind != "e"), "")
    return not above.endswith((":", "："))

"""Each line of a mail with what it is: text, empty, quote, attribution, marker, header block, device line, delimiter."""

from __future__ import annotations

from dataclasses import dataclass

from inbox.mime import reply_marks as marks
from inbox.mime.attributions import MAX_JOINED, ends_sentence, has_date, is_attribution, is_certain, is_spoken
from inbox.mime.device_lines import is_device_line

_MAX_LINE = 400
_JOIN = 8
# So many places are looked at closely. A person's mail has a few; a mail made to be slow has thousands.
_LOOKS = 400
_BLANKS = 3
_WRAPS = 3
_DEVICE_WIDTH = 130
_REPLY_ABOVE = 90
_ENDS = (":", "：", "-", ": ")
_LAST = frozenset(":：>-*_ \xa0\u200e\u200f\u202a\u202b\u202c\u2069")
_HEADER_LINES = 3
_HEADER_SPAN = 12


@dataclass(slots=True)
class Line:
    """`kind`: t text, e empty, q quote, a attribution, m marker, h header block, s device line, d delimiter."""

    text: str
    kind: str
    group: int = 0


def read_lines(texts: list[str]) -> list[Line]:
    """The kinds of a mail's lines; one whose break before an attribution was lost comes back as two."""
    lines: list[Line] = []
    for text in texts:
        if text.endswith(_ENDS):
            lines += [Line(piece, _kind(piece)) for piece in _apart(text)]
        else:
            lines.append(Line(text, _kind(text)))
    _wrapped_wholes(lines)
    fenced = _fences(lines)
    _attributions(lines, fenced)
    _header_blocks(lines, fenced)
    _unknown_markers(lines, fenced)
    return lines


def _apart(text: str) -> list[str]:
    """`Thank you! On 3 March 2026, Jo Doe wrote:` is the writer's words and an attribution."""
    found = marks.LATE_LEAD.search(text) if len(text) <= _MAX_LINE else None
    late = text[found.end() :].strip() if found is not None else ""
    if found is None or "@" in text[: found.start()] or not is_attribution(late) or not is_certain(late):
        return [text]
    if text[: found.start()].strip().lower() in marks.LEAD_WORDS:
        return [text]  # some write their first word twice
    return [text[: found.start()], text[found.end() :]]


def _kind(text: str) -> str:
    if text[:1] == ">":
        return "a" if text[:3] == ">>>" and marks.WHOLE.match(text[:_MAX_LINE]) else "q"
    # The last is the dot that trackers leave below a mail.
    bare = text.strip("\u200b\ufeff\u200e\u200f \t\xa0\u1427")
    if not bare:
        return "e"
    if bare[0] == ">":
        return "q"
    if (bare.endswith(" wrote") or ("---" in bare and bare[0] != "-")) and marks.WHOLE.match(text[:_MAX_LINE]):
        return "a"
    if bare[0] in "-*–—_" and marks.RUN_ON_MARKER.match(text[:_MAX_LINE]):
        return "m"
    return "t" if len(bare) > _DEVICE_WIDTH else _short_kind(text, bare)


def _short_kind(text: str, bare: str) -> str:
    first = bare[0]
    if first in "-_=*~#+—–‐":
        if marks.KNOWN_MARKER.match(text):
            return "m"
        if marks.DELIMITER.match(text) or marks.SIGNATURE_DASHES.match(text):
            return "d"
    if (first in "-*_" or bare[-1] in ":：") and marks.FORWARD.match(text):
        return "m"
    if len(bare) < _REPLY_ABOVE and marks.REPLY_ABOVE.match(bare):
        return "m"
    return "s" if is_device_line(bare) else "t"


def _wrapped_wholes(lines: list[Line]) -> None:
    """An attribution between angle brackets looks like a quote until the rest of it is read, which a program has wrapped."""
    for start, line in enumerate(lines):
        if line.kind != "q" or not line.text.startswith(">>>"):
            continue
        joined = line.text[:_MAX_LINE].rstrip()
        for stop in range(start + 1, min(start + _WRAPS, len(lines))):
            # What begins with a bracket of its own is quoted; only the end of the attribution may stand alone.
            text = lines[stop].text[:_MAX_LINE].strip()
            if not text or (text[0] == ">" and text != ">>>"):
                break
            joined = f"{joined} {text}"
            # With an address, for what is typed at a prompt begins and ends so, too.
            if text.endswith(">>>") and marks.MAILBOX_WITHIN.search(joined) and marks.WHOLE.match(joined):
                for covered in lines[start : stop + 1]:
                    covered.kind, covered.group = "a", start
                break


def _fences(lines: list[Line]) -> set[int]:
    """Lines of code between two fences are text whatever they look like."""
    fences = [i for i, line in enumerate(lines) if line.text[:6].lstrip()[:3] in {"```", "~~~"}]
    inside: set[int] = set()
    for start, stop in zip(fences[::2], fences[1::2], strict=False):
        inside.update(range(start, stop + 1))
    for position in inside:
        lines[position].kind = "t"
    return inside


def _attributions(lines: list[Line], fenced: set[int]) -> None:
    """Only the few lines before one that ends as an attribution does can be the start of one."""
    done = 0
    beginnings = _Beginnings(lines, fenced)
    for end, line in enumerate(lines):
        if line.kind in "ed" or end in fenced:
            continue
        text = line.text
        if text.rstrip()[-1:] in _LAST:
            start, stop = _attribution_ending(lines, max(done, end - _JOIN + 1), end, beginnings)
        elif text[:1].isdigit() and marks.STAMPED.match(text[:_MAX_LINE]):
            start, stop = end, end + 1
        else:
            continue
        for covered in lines[start:stop]:
            covered.kind, covered.group = "a", start
        done = max(done, stop)


def _attribution_ending(lines: list[Line], first: int, end: int, beginnings: _Beginnings) -> tuple[int, int]:
    """The attribution that ends about line `end`, as a range of lines; an empty one when there is none."""
    for start in range(first, end + 1):
        if not beginnings.has(start):
            continue
        stop = _attribution_end(lines, start) or _weak_end(lines, start)
        if stop > start:
            return start, stop
    return 0, 0


def _plain(text: str) -> str:
    """Without the marks of direction, which stand between an address and its brackets."""
    return text if text.isascii() else marks.DIRECTIONS.sub("", text)


class _Beginnings:
    """Lines that may be the start of an attribution; each is asked once, and a few hundred looks are all there are."""

    def __init__(self, lines: list[Line], fenced: set[int]) -> None:
        self._lines = lines
        self._fenced = fenced
        self._known: dict[int, bool] = {}
        self._looks = _LOOKS

    def has(self, position: int) -> bool:
        if position in self._fenced:
            return False
        if position not in self._known:
            self._known[position] = _may_begin(self._lines[position]) or _is_above_address(self._lines, position)
        # Lines change their kind as attributions are found.
        if not self._known[position] or self._lines[position].kind not in "tm" or not self._looks:
            return False
        self._looks -= 1
        return True


def _may_begin(line: Line) -> bool:
    if line.kind == "m":
        return is_attribution(line.text)
    return line.kind == "t" and (_may_start(line.text) or marks.WEAK.match(line.text[:_MAX_LINE]) is not None)


def _is_above_address(lines: list[Line], position: int) -> bool:
    """A name, or what else stands before it, where the program wrapped before the address."""
    line, below = lines[position], lines[position + 1 : position + 2]
    if line.kind != "t" or not below or not marks.MAILBOX_FIRST.match(below[0].text[:_MAX_LINE]):
        return False
    text = line.text[:_MAX_LINE]
    return not ends_sentence(text) and not is_spoken(f"{text} <")


def _may_start(text: str) -> bool:
    text = _plain(text[:_MAX_LINE])
    if marks.LEAD.match(text) or marks.DATE_START.match(text):
        return True
    if (
        marks.TIMEISH.search(text)
        and marks.CLOCK_TIME.search(text)
        and (marks.DATE.search(text) or marks.VERB.search(text))
    ):
        return True
    return ("@" in text or "<" in text) and (
        marks.VERB.search(text) is not None or text.rstrip().endswith("<") or _ends_with_address(text)
    )


def _ends_with_address(text: str) -> bool:
    return text.rstrip()[-1:] in ":：" and marks.ENDS_WITH_MAILBOX.search(text) is not None


def _attribution_end(lines: list[Line], start: int) -> int:
    """Programs wrap the line, so up to eight are joined; the shortest that reads as an attribution counts."""
    joined = ""
    blanks = 0
    for stop in range(start, min(start + _JOIN, len(lines))):
        text = _plain(lines[stop].text).strip()
        blanks += not text
        joined = f"{joined} {text}".strip()
        if len(joined) > MAX_JOINED or blanks > _BLANKS or (stop > start and lines[stop].kind in "mah"):
            return 0
        if text and is_attribution(joined) and not _continues(lines, stop, joined):
            counts = is_certain(joined) or _is_bordered(lines, start, stop + 1, joined)
            return stop + 1 if counts and not _starts_later(lines, start, stop, joined) else 0
        if ends_sentence(text):
            return 0
    return 0


def _quote_follows(lines: list[Line], position: int) -> bool:
    below = next((line for line in lines[position : position + _BLANKS] if line.kind != "e"), None)
    return below is not None and (below.kind == "q" or marks.CITED.match(below.text) is not None)


def _weak_end(lines: list[Line], start: int) -> int:
    """Without a date, an address must speak for it, or the quoted lines below."""
    text, stop = _plain(lines[start].text[:_MAX_LINE]), start + 1
    if _is_above_address(lines, start):
        text, stop = f"{text} {_plain(lines[stop].text[:_MAX_LINE])}", stop + 1
    if text.rstrip().endswith(">") and stop < len(lines) and marks.VERB_ALONE.match(lines[stop].text[:_MAX_LINE]):
        text, stop = f"{text} {lines[stop].text.strip()}", stop + 1
    if is_spoken(text):
        return 0
    if marks.NAMED.match(text) or _is_quoting(lines, start, stop, text):
        return stop
    is_likely = marks.WEAK.match(text) or _ends_with_address(text)
    return stop if is_likely and _is_bordered(lines, start, stop, text) else 0


def _is_quoting(lines: list[Line], start: int, stop: int, text: str) -> bool:
    """A paragraph of its own, as a program sets it; who quotes by hand puts quotation marks around the words."""
    if start and lines[start - 1].kind == "t":
        return False
    below = next((line.text for line in lines[stop : stop + _BLANKS] if line.kind != "e"), "")
    return marks.QUOTING.match(text.strip()) is not None and marks.QUOTED_BY_HAND.match(below) is None


def _is_bordered(lines: list[Line], start: int, stop: int, text: str) -> bool:
    """Quoted lines below it; or a device line right above what names an address, for few write below their device line."""
    return _quote_follows(lines, stop) or ("@" in text and _is_below_device(lines, start))


def _is_below_device(lines: list[Line], start: int) -> bool:
    above = next((line for line in reversed(lines[max(0, start - _BLANKS) : start]) if line.kind != "e"), None)
    return above is not None and above.kind == "s"


def _starts_later(lines: list[Line], start: int, stop: int, joined: str) -> bool:
    """A line of text above the attribution was taken for its beginning. Where only that has the date, it is no such line."""
    for later in range(start + 1, stop + 1):
        if not _may_start(lines[later].text) or marks.MAILBOX_FIRST.match(lines[later].text[:_MAX_LINE]):
            continue
        rest = " ".join(_plain(line.text).strip() for line in lines[later : stop + 1])
        is_whole = has_date(rest) or not has_date(joined)
        if is_whole and not lines[later - 1].text.rstrip().endswith("<") and is_attribution(rest):
            return True
    return False


def _continues(lines: list[Line], stop: int, joined: str) -> bool:
    """`2016-10-24 Foo bar <` is not yet complete, nor is a line below which the verb stands alone."""
    if stop + 1 == len(lines):
        return False
    return joined.endswith("<") or marks.VERB_ALONE.match(lines[stop + 1].text[:_MAX_LINE]) is not None


def _header_blocks(lines: list[Line], fenced: set[int]) -> None:
    for position, line in enumerate(lines):
        if line.kind != "t" or position in fenced or ":" not in line.text[:40].replace("：", ":"):
            continue
        match = marks.HEADER.match(_plain(line.text[:_MAX_LINE]))
        if match is not None and match["other"] is None:
            stop = _header_block_end(lines, position)
            for covered in lines[position:stop]:
                covered.kind, covered.group = "h", position


def _unknown_markers(lines: list[Line], fenced: set[int]) -> None:
    """Words between hyphens that stand above a header block belong to it."""
    for position, line in enumerate(lines):
        if line.kind == "h" and line.group == position:
            above = next(
                (p for p in range(position - 1, max(-1, position - _BLANKS - 1), -1) if lines[p].kind != "e"), None
            )
            if above is not None and above not in fenced and marks.MARKER.match(lines[above].text[:_MAX_LINE]):
                lines[above].kind = "m"


def _header_block_end(lines: list[Line], start: int) -> int:
    """At least three fields, a sender among them and a subject or an address: a table "From: Berlin" is none. Of two, one
    after the other, one must be a date with a time of day, and one an address."""
    seen: set[str] = set()
    fields = 0
    stop = start
    last = start
    address = clock = False
    for position in range(start, min(start + _HEADER_SPAN, len(lines))):
        line = lines[position]
        match = marks.HEADER.match(_plain(line.text[:_MAX_LINE])) if line.kind in "tsd" else None
        if match is None:
            if position - last > 1:
                break
            continue
        seen.add(match.lastgroup or "")
        address = address or "@" in line.text
        clock = clock or (match.lastgroup == "date" and marks.CLOCK.search(line.text) is not None)
        fields += 1
        last = position
        stop = position + 1
    whole = fields >= _HEADER_LINES and "from" in seen and ("subject" in seen or (address and "date" in seen))
    pair = fields == 2 and stop - start == 2 and address and clock and not seen.isdisjoint({"from", "to"})
    return stop if whole or pair else start

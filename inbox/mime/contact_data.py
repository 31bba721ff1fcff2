"""Whether some lines are a name with an address to reach it, and nothing that was said."""

from __future__ import annotations

import re

from inbox.mime import reply_marks as marks

_LINES = 6
_WIDTH = 60
_NAME_WORDS = 6
_WORD = re.compile(r"[^\W\d_][\w'’.&-]*")


def is_contact(lines: list[str]) -> bool:
    """One line must tell how to reach somebody, and no line may be a sentence, a question or an item of a list."""
    if len(lines) > _LINES or not all(len(line) <= _WIDTH and _may_belong(line) for line in lines):
        return False
    return not lines or any(marks.CONTACT.search(line) for line in lines)


def _may_belong(line: str) -> bool:
    """A name, a role, a street, a number: words that stand large, as in none but a very short sentence."""
    if "?" in line or "？" in line or marks.ITEM.match(line):
        return False
    words = _WORD.findall(marks.ADDRESSES.sub(" ", line))
    small = [word for word in words if word[0].islower() and word not in marks.NAME_PARTICLES | marks.JOINING]
    if line.rstrip().endswith((".", "!", "。", "！")) and len(words) > 1 and not marks.CONTACT.search(line):
        return False
    return len(small) <= (1 if marks.CONTACT.search(line) else 0) and len(words) <= _NAME_WORDS

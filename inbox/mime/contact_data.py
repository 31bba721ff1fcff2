"""Whether some lines are a name with an address to reach it, and nothing that was said."""

from __future__ import annotations

import re

from inbox.mime import reply_marks as marks

_LINES = 6
_WIDTH = 60
_NAME_WORDS = 6
_FOOTER_WIDTH = 120
# How the programs of lists call them, in the languages that they speak.
_LIST_NAME = re.compile(
    r"(?:mailing[\s-]?list\w*|list[ae]? (?:de|di) (?:diffusion|distribuci[oó]n|correo|discuss\w+)|lista dyskusyjna|e-?maillijst|mailinglijst"
    r"|levelezőlista|sähköpostilista|список рассылки|メーリングリスト|邮件列表)\s*$",
    re.IGNORECASE,
)
_ADDRESS_ALONE = re.compile(r"\s*(?:<?[^\s<>@]{1,80}@[\w.-]{1,80}>?|<?https?://[^\s<>]{1,110}>?)\s*$")
_WORD = re.compile(r"[^\W\d_][\w'’.&-]*")


def is_contact(lines: list[str]) -> bool:
    """One line must tell how to reach somebody, and no line may be a sentence, a question or an item of a list."""
    if len(lines) > _LINES or not all(len(line) <= _WIDTH and _may_belong(line) for line in lines):
        return False
    return not lines or any(marks.CONTACT.search(line) for line in lines)


def is_list_footer(lines: list[str]) -> bool:
    """What a mailing list adds to each mail: its name, and below it addresses and links alone, each on a line of its own."""
    if not 2 <= len(lines) <= _LINES or not all(len(line) <= _FOOTER_WIDTH for line in lines):
        return False
    return _LIST_NAME.search(lines[0]) is not None and all(_ADDRESS_ALONE.match(line) for line in lines[1:])


def _may_belong(line: str) -> bool:
    """A name, a role, a street, a number: words that stand large, as in none but a very short sentence."""
    if "?" in line or "？" in line or marks.ITEM.match(line):
        return False
    words = _WORD.findall(marks.ADDRESSES.sub(" ", line))
    small = [word for word in words if word[0].islower() and word not in marks.NAME_PARTICLES | marks.JOINING]
    if line.rstrip().endswith((".", "!", "。", "！")) and len(words) > 1 and not marks.CONTACT.search(line):
        return False
    return len(small) <= (1 if marks.CONTACT.search(line) else 0) and len(words) <= _NAME_WORDS

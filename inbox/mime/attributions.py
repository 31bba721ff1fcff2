"""`On 3 March 2026 at 10:14, Jo Doe wrote:`, told apart from a sentence that only sounds like it.

People write "On Friday I need the following:", too, and what they write below it is theirs. Above quoted lines a likeness is
enough, since the marks say what is quoted. Without them everything below would go, so the line must be one that no person types:
with the address, or with a date, a time of day and a name and nothing else.
"""

from __future__ import annotations

import re

from inbox.mime import reply_marks as marks

MAX_JOINED = 600
_MAX_NAME = 6
_MAX_AFTER = 2
_WORD = re.compile(r"[^\W\d_][\w'’.-]*")
_AROUND_A_NAME = marks.AROUND_A_DATE | marks.ATTRIBUTION_WORDS
_AROUND_WORDS = ".,:;'’\"“”„«»()[]<>/—–-、，׳״"
_ENDS = (":", "：", "-", ">", "*", "_", "&gt;")
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")


def is_attribution(joined: str) -> bool:
    """It reads like one; enough where quoted lines follow."""
    if len(joined) > MAX_JOINED or not joined.endswith(_ENDS):
        return False
    if marks.EUDORA.match(joined):
        return True
    if is_spoken(joined):
        return False
    if _stamped_address(joined):
        return True
    return marks.ENDS_AS_ATTRIBUTION.search(joined) is not None and (_dated_by_somebody(joined) or _dated_name(joined))


def is_certain(joined: str) -> bool:
    """What stands below it is somebody else's, even without any mark; asked of what reads like an attribution."""
    return _is_known_form(joined) or marks.EUDORA.match(joined) is not None or _dated_name(joined)


def _is_known_form(joined: str) -> bool:
    bare = marks.MAILBOX.sub(" @ ", joined)
    clock = _last(marks.CLOCK_TIME, bare)
    if "@" in bare:
        if _stamped_address(joined):
            return clock is None or _is_name(bare[clock.end() :].replace("@", ""), least=0)
        return (clock is not None or _by_address(joined)) and _ends_with_a_fact(bare)
    if clock is None or clock["seconds"] or not marks.DATEISH.search(bare[: clock.start()]):
        return False
    return _is_name(bare[clock.end() :], least=1)


def is_spoken(text: str) -> bool:
    """It holds words that belong into a sentence, and not only into a name."""
    return marks.SENTENCE_WORDS.search(marks.DISPLAY_NAME.sub(" ", text)) is not None


def has_date(joined: str) -> bool:
    """A date beside the time of day."""
    return marks.DATEISH.search(marks.CLOCK_TIME.sub(" ", marks.ZONE.sub(" ", joined))) is not None


def ends_sentence(text: str) -> bool:
    """A program wraps within a sentence, never after one; an ordinal or a month cut short ends none."""
    text = text.rstrip()
    return text.endswith(_SENTENCE_END) and marks.ABBREVIATED.search(text) is None


def _dated_by_somebody(joined: str) -> bool:
    """A verb and what may be a date, and an address or a beginning as programs have it."""
    if not marks.VERB.search(joined) or not marks.DATEISH.search(joined):
        return False
    return bool(marks.MAILBOX.search(joined) or marks.LEAD.match(joined) or marks.DATE_START.match(joined))


def _stamped_address(joined: str) -> bool:
    """`2026-03-03 10:14 GMT+01:00 Jo Doe <jo@example.org>:` has no verb."""
    return bool(
        marks.FULL_DATE_START.match(joined) and marks.MAILBOX.search(joined) and marks.ENDS_WITH_MAILBOX.search(joined)
    )


def _dated_name(joined: str) -> bool:
    """A whole date, a time of day and a name with its address or a verb, in any order, and not a word more: so it is read
    in languages whose verb is not known here, or that need none."""
    bare = marks.MAILBOX.sub(" @ ", joined)
    if marks.CLOCK_TIME.search(bare) is None:
        return False
    by_address = "<" in joined and marks.ENDS_WITH_MAILBOX.search(joined) is not None
    if not by_address and ("@" in bare or marks.VERB.search(bare) is None):
        return False
    if not by_address and marks.SECONDS.search(bare) and not marks.LEAD.match(bare):
        return False  # so begins a line of a log
    rest, dates = marks.DATE.subn(" ", bare)
    rest = marks.CLOCK_TIME.sub(" ", marks.ZONE.sub(" ", rest))
    return dates == 1 and _is_dated_name(marks.VERB.sub(" ", rest), least=0 if by_address else 1)


def _is_dated_name(text: str, least: int) -> bool:
    """A name, and words around a date: written large, or in a script that has no small letters."""
    words = [word for token in text.split() if (word := token.strip(_AROUND_WORDS)) and any(map(str.isalpha, word))]
    words = [word for word in words if word.lower() not in _AROUND_A_NAME]
    if any(letter.isdigit() for word in words for letter in word):
        return False
    own = all(word.lower() in marks.NAME_PARTICLES for word in words if word[0].islower())
    return own and least <= len(words) <= _MAX_NAME


def _by_address(joined: str) -> bool:
    """In brackets as programs write it, or with its verb at once."""
    return "<" in joined or "&lt;" in joined or marks.ADDRESS_WROTE.search(joined) is not None


def _ends_with_a_fact(bare: str) -> bool:
    """The verb, the address or the time come last, not a clause."""
    found = [_last(pattern, bare) for pattern in (marks.VERB, marks.CLOCK_TIME, marks.DATEISH)]
    end = max([bare.rfind("@") + 1, *(match.end() for match in found if match is not None)])
    return len(_WORD.findall(bare[end:])) <= _MAX_AFTER


def _is_name(text: str, least: int) -> bool:
    """Nothing but a name, the verb and what belongs to a time of day."""
    text = marks.VERB.sub(" ", marks.ZONE.sub(" ", text))
    if any(letter.isdigit() for letter in text):
        return False
    words = [word for word in _WORD.findall(text) if word.lower().rstrip(".") not in marks.ATTRIBUTION_WORDS]
    named = [word for word in words if not word[0].islower()]
    own = all(word.lower() in marks.NAME_PARTICLES for word in words if word[0].islower())
    return own and least <= len(named) and len(words) <= _MAX_NAME


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found

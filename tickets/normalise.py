"""The words of a saved view's filter. All of them must hold; what is left out holds for every conversation.

    {"status": "open", "inbox_id": "…", "assignee": "me" | "nobody" | "<membership>", "unanswered": true, "tag_id": "…"}

One label at most: the maintained counters know conversations by one label and no more.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

_STATUSES: Final = ("open", "snoozed", "closed", "spam")
ME, NOBODY = "me", "nobody"


class BadFilter(ValueError):
    """The text says which word cannot be used; `word` names it."""

    def __init__(self, word: str, text: str) -> None:
        super().__init__(text)
        self.word = word


def view_filter(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filter in its one spelling. Raises BadFilter."""
    unknown = set(given) - set(_WORDS)
    if unknown:
        word = min(map(str, unknown))
        raise BadFilter(word, f"A view has no {word!r}. Possible: {', '.join(_WORDS)}.")
    return {word: _WORDS[word](word, given[word]) for word in _WORDS if given.get(word) is not None}


def _status(word: str, value: Any) -> str:
    if value not in _STATUSES:
        raise BadFilter(word, f"One of {', '.join(_STATUSES)}.")
    return str(value)


def _id(word: str, value: Any) -> str:
    try:
        return str(UUID(str(value)))
    except ValueError as error:
        raise BadFilter(word, "An id, such as those that the API shows.") from error


def _assignee(word: str, value: Any) -> str:
    return value if value in (ME, NOBODY) else _id(word, value)


def _flag(word: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadFilter(word, "true or false.")
    return value


_WORDS: Final = {
    "status": _status,
    "inbox_id": _id,
    "assignee": _assignee,
    "unanswered": _flag,
    "tag_id": _id,
}


def in_words(filter_: Mapping[str, Any]) -> str:
    """What a filter takes, for a list of views: "open · waits for an answer · mine"."""
    said = {
        "status": filter_.get("status"),
        "unanswered": {True: "waits for an answer", False: "answered"}.get(filter_.get("unanswered", "")),
        "assignee": {ME: "mine", NOBODY: "nobody's"}.get(filter_.get("assignee", ""), "one member's"),
        "inbox_id": "of one inbox",
        "tag_id": "with a label",
    }
    return " · ".join(str(said[word]) for word in said if word in filter_) or "every conversation"

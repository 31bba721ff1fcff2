"""A secret in the hands of the process: it is shown by `reveal()` and by nothing else."""

import hmac
from typing import NoReturn


class Secret:
    """Text that neither `repr`, nor a log line, nor an error page, nor a pickle gives away (K4)."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text, for the one place that needs it."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is not pickled: it would lie in a queue or a cache in the clear.")

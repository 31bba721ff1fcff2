"""Every route of the API, from the resolver: a new one is in the matrix without anybody adding it."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

_ID = re.compile(r"\(\?P<pk>(?:[^()]|\([^()]*\))*\)|<uuid:pk>|<str:pk>|<pk>")


def routes() -> list[str]:
    """Paths below /api/v1 with `{id}` where an id stands."""
    return sorted({path for path, _ in _found()})


def with_id() -> list[str]:
    return [path for path in routes() if "{id}" in path]


def lists() -> list[str]:
    """Collections, which have a page of rows."""
    of_one = {path.removesuffix("/{id}") for path in with_id() if path.endswith("/{id}")}
    return sorted(path for path, actions in _found() if path in of_one and actions.get("get") == "list")


def _found() -> list[tuple[str, dict[str, str]]]:
    """Each path, and the actions of its methods."""
    walked = _walk(get_resolver().url_patterns, "")
    return [(_clean(text), actions) for text, actions in walked if text.startswith("api/v1/")]


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, dict[str, str]]]:
    for pattern in patterns:
        text = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, text)
        else:
            yield text, getattr(pattern.callback, "actions", None) or {}


def _clean(text: str) -> str:
    path = _ID.sub("{id}", text.removeprefix("api/v1"))
    return path.replace("^", "").replace("$", "").replace("\\Z", "").replace("\\.", ".")

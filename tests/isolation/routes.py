"""Every route of the API, from the resolver: a new one is in the matrix without anybody adding it."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

_ID = re.compile(r"\(\?P<pk>(?:[^()]|\([^()]*\))*\)|<uuid:pk>|<str:pk>|<pk>")


def routes() -> list[str]:
    """Paths below /api/v1 with `{id}` where an id stands."""
    found = {_clean(text) for text in _walk(get_resolver().url_patterns, "") if text.startswith("api/v1/")}
    return sorted(found)


def with_id() -> list[str]:
    return [path for path in routes() if "{id}" in path]


def lists() -> list[str]:
    """Collections, which have a page of rows."""
    of_one = {path.removesuffix("/{id}") for path in with_id() if path.endswith("/{id}")}
    return sorted(of_one)


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for pattern in patterns:
        text = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, text)
        else:
            yield text


def _clean(text: str) -> str:
    path = _ID.sub("{id}", text.removeprefix("api/v1"))
    return path.replace("^", "").replace("$", "").replace("\\Z", "").replace("\\.", ".")

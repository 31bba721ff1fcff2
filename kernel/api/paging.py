"""Lists by keyset: stable under inserts, as fast on the last page as on the first, with opaque cursors."""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q, QuerySet
from rest_framework.request import Request

from kernel.errors import DomainError

DEFAULT_LIMIT = 25
MAX_LIMIT = 100


class BadCursor(DomainError):
    code = "bad_cursor"
    status = 400
    title = "The cursor or limit cannot be used"


def page(
    request: Request, rows: "QuerySet[Any]", render: Callable[[Any], Any], *, by: str = "created_at"
) -> dict[str, Any]:
    """The page that `request` asks for, newest first: `{"data": […], "next": cursor|null, "previous": cursor|null}`."""
    limit = _limit(request.query_params.get("limit"))
    cursor = request.query_params.get("cursor")
    backwards, mark = _decode(cursor) if cursor else (False, None)
    if mark is not None:
        value, pk = mark
        word = "gt" if backwards else "lt"
        rows = rows.filter(Q(**{f"{by}__{word}": value}) | Q(**{by: value, f"pk__{word}": pk}))
    order = (by, "pk") if backwards else (f"-{by}", "-pk")
    found = list(rows.order_by(*order)[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    older, newer = (True, more) if backwards else (more, mark is not None)
    return {
        "data": [render(row) for row in found],
        "next": _encode(found[-1], by, backwards=False) if found and older else None,
        "previous": _encode(found[0], by, backwards=True) if found and newer else None,
    }


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MAX_LIMIT:
        raise BadCursor(f"limit must be a whole number from 1 to {MAX_LIMIT}.")
    return int(text)


def _encode(row: Any, by: str, *, backwards: bool) -> str:
    content = orjson.dumps([int(backwards), getattr(row, by), row.pk])
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode(cursor: str) -> tuple[bool, tuple[Any, Any]]:
    try:
        backwards, value, pk = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        mark = (datetime.fromisoformat(value) if isinstance(value, str) else int(value)), UUID(pk)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadCursor("The cursor is not one that this list gave. Start again without it.") from error
    return bool(backwards), mark

"""Lists by keyset: stable under inserts, as fast on the last page as on the first, with opaque cursors."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, Field, Model, Q, QuerySet
from rest_framework.request import Request

from kernel.errors import DomainError

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
_REFUSED = "The cursor is not one that this list gave. Start again without it."


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
    backwards, mark = _decode(cursor, rows, by) if cursor else (False, None)
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


def _decode(cursor: str, rows: "QuerySet[Any]", by: str) -> tuple[bool, tuple[Any, Any]]:
    """Direction, value and key of a cursor; BadCursor for whatever this list would not have made."""
    try:
        backwards, value, pk = orjson.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        if not isinstance(pk, str | int) or not isinstance(value, str | int):
            raise BadCursor(_REFUSED)
        mark = _read(rows.model, by, value), _read(rows.model, "pk", pk)
    except (ValueError, TypeError, ArithmeticError, ValidationError) as error:
        raise BadCursor(_REFUSED) from error
    return bool(backwards), mark


def _read(model: type[Model], name: str, value: str | int) -> Any:
    """A value of a cursor as the field takes it. Times are aware; whole numbers fit the column."""
    field: Field[Any, Any] = model._meta.pk if name == "pk" else model._meta.get_field(name)  # type: ignore[assignment]
    found = field.to_python(value)
    if isinstance(field, DateTimeField) and (found is None or found.tzinfo is None):
        raise BadCursor(_REFUSED)
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        raise BadCursor(_REFUSED)
    return found

"""Lists by keyset: stable under inserts, as fast on the last page as on the first, with cursors that only we can make.

A cursor is signed for one list: workspace, path, filters and order. Any other is refused, so what it holds can be
believed, and a page can never begin in one list and go on in another.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db.models import Field, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework.request import Request

from kernel import context
from kernel.errors import BadParameter

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
PARAMETERS = ("cursor", "limit")
_MARK_BYTES = 12
_LONGEST = 1_000
_REFUSED = (
    "The cursor is not one that this list gave for these filters and this order. Use `next` or `previous` as they"
    " came, with the same parameters, or start again without a cursor."
)


class BadCursor(BadParameter):
    code = "bad_cursor"
    title = "The cursor or limit cannot be used"


def page(
    request: Request,
    rows: "QuerySet[Any]",
    render: Callable[[Any], Any],
    *,
    by: str = "created_at",
    sorts: Sequence[str] = (),
) -> dict[str, Any]:
    """The page that `request` asks for: `{"data": […], "next": cursor|null, "previous": cursor|null}`.

    Newest first, that is falling in `by`, unless `sort` names one of `sorts` (a minus before it: falling). Columns that
    may be sorted by are never null.
    """
    limit = _limit(request.query_params.get("limit"))
    key, falling = order_of(request.query_params.get("sort"), by, sorts)
    place = place_of(request, key, falling=falling)
    cursor = request.query_params.get("cursor")
    backwards, mark = _read(cursor, place, rows, key) if cursor else (False, None)
    if mark is not None:
        value, pk = mark
        word = "gt" if backwards is falling else "lt"
        # The first condition leads into the index; of the other alone, everything before the place would be read.
        rows = rows.filter(Q(**{f"{key}__{word}e": value}), Q(**{f"{key}__{word}": value}) | Q(**{f"pk__{word}": pk}))
    sign = "" if backwards is falling else "-"
    found = list(rows.order_by(f"{sign}{key}", f"{sign}pk")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    after, before = (True, more) if backwards else (more, mark is not None)
    return {
        "data": [render(row) for row in found],
        "next": write(found[-1], place, key, backwards=False) if found and after else None,
        "previous": write(found[0], place, key, backwards=True) if found and before else None,
    }


def order_of(asked: str | None, by: str, sorts: Sequence[str]) -> tuple[str, bool]:
    """Column and direction; the columns are an allow-list, since each has to be fast."""
    if asked is None:
        return by, True
    key = asked.removeprefix("-")
    if key not in sorts:
        known = ", ".join(choices(sorts))
        raise BadParameter(f"sort must be one of {known}.", parameter="sort", allowed=choices(sorts))
    return key, asked.startswith("-")


def choices(sorts: Sequence[str]) -> list[str]:
    """The values of `sort`: each column rising and falling."""
    return [f"{sign}{name}" for name in sorts for sign in ("", "-")]


def place_of(request: Request, key: str, *, falling: bool) -> bytes:
    """What a cursor is good for."""
    scope = context.scope.get()
    narrowed = sorted(
        (name, value) for name, value in request.query_params.items() if name not in {*PARAMETERS, "sort", "expand"}
    )
    workspace = scope.workspace_id if scope else None
    return orjson.dumps([workspace, request.path, key, falling, narrowed])


def write(row: Any, place: bytes, key: str, *, backwards: bool) -> str:
    """The cursor that points at a row of a place."""
    content = orjson.dumps([int(backwards), getattr(row, key), row.pk])
    return base64.urlsafe_b64encode(_mark(content, place) + content).rstrip(b"=").decode()


def _mark(content: bytes, place: bytes) -> bytes:
    return salted_hmac("kernel.api.cursor", content + place, algorithm="sha256").digest()[:_MARK_BYTES]


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MAX_LIMIT:
        raise BadCursor(f"limit must be a whole number from 1 to {MAX_LIMIT}.", parameter="limit")
    return int(text)


def _read(cursor: str, place: bytes, rows: "QuerySet[Any]", key: str) -> tuple[bool, tuple[Any, Any]]:
    """Direction, value and key of a cursor; BadCursor for whatever this list has not made."""
    try:
        raw = base64.b64decode(cursor[:_LONGEST] + "=" * (-len(cursor) % 4), b"-_", validate=True)
        mark, content = raw[:_MARK_BYTES], raw[_MARK_BYTES:]
        if not constant_time_compare(mark, _mark(content, place)):
            raise BadCursor(_REFUSED, parameter="cursor")
        backwards, value, pk = orjson.loads(content)
        return bool(backwards), (_value(rows, key, value), _value(rows, "pk", pk))
    # The signature holds, but the column may have had another type when it was made.
    except (ValueError, TypeError, binascii.Error, ValidationError) as error:
        raise BadCursor(_REFUSED, parameter="cursor") from error


def _value(rows: "QuerySet[Any]", name: str, value: Any) -> Any:
    model = rows.model
    field: Field[Any, Any] = model._meta.pk if name == "pk" else model._meta.get_field(name)
    return field.to_python(value)

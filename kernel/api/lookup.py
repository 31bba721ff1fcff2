"""One row, or the refusal that tells nothing."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from kernel.errors import NotFound

M = TypeVar("M", bound=Model)

# What a path takes for an id. Anything else is no address at all.
UUID_PATTERN = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def one(rows: "QuerySet[M, Any]") -> M:
    """The row, else NotFound: the same for an id that is unknown and for one of another workspace."""
    row: M | None = rows.first()
    if row is None:
        raise NotFound
    return row

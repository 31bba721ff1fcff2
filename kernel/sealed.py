"""Columns that hold envelopes. The field is the registry: what is declared with it is rotated, and nothing else can be sealed.

In the database each such column has a twin, `<column>_key`, that reads the key version out of the frame and refers to the
live key of that number (`kernel.db.sealed`), so a version goes only when nothing names it any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models


class SealedField(models.BinaryField):  # type: ignore[type-arg]
    """Envelopes of `kernel.crypto`, bound to their row; `purpose` is what the associated data say beside it."""

    def __init__(self, *, purpose: str = "", **options: Any) -> None:
        super().__init__(**options | {"editable": False})
        self.purpose = purpose

    def deconstruct(self) -> Any:
        """For migrations it is bytes: they must not import today's code."""
        name, _, arguments, options = super().deconstruct()
        options.pop("editable", None)
        return name, "django.db.models.BinaryField", arguments, options


@dataclass(frozen=True)
class SealedColumn:
    """One column of envelopes."""

    table: str
    column: str
    purpose: str
    key: str

    @property
    def version(self) -> str:
        """The column in which the database keeps the key version of the frame."""
        return f"{self.column}_key"


def columns() -> Iterator[SealedColumn]:
    """Every column of envelopes, by the models."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, SealedField):
                key: Any = model._meta.pk
                yield SealedColumn(model._meta.db_table, str(field.column), field.purpose, str(key.column))


def is_place(table: str, purpose: str) -> bool:
    """Whether a column of `table` is declared to hold envelopes of this purpose."""
    return any(column.table == table and column.purpose == purpose for column in columns())


def row_id(key: Any) -> UUID:
    """The id of a row as the associated data name it; plumbing has numbers."""
    return key if isinstance(key, UUID) else UUID(int=int(key))

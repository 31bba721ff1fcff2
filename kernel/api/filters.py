"""Filters of lists: each list has a class that names what it may be narrowed by, and nothing else narrows it."""

from collections.abc import Mapping
from datetime import UTC
from enum import EnumType
from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.db.models import Choices, QuerySet
from django_filters.fields import IsoDateTimeField

from kernel.errors import BadParameter

_WHEN = "A time such as 2026-11-05T09:00:00Z."


class _InstantField(IsoDateTimeField):
    """In UTC, since offsets that Python takes (up to a day) are too much for PostgreSQL."""

    def clean(self, value: Any) -> Any:
        """The instant, or a fault where it lies outside of time as we count it."""
        found = super().clean(value)
        try:
            return found.astimezone(UTC) if found else found
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class Instant(django_filters.IsoDateTimeFilter):
    """An instant; without an offset it is UTC."""

    field_class = _InstantField


class Filters(django_filters.FilterSet):
    """The base: every list can be narrowed by time of creation."""

    created_at__gte = Instant("created_at", "gte", help_text=f"Created then or later. {_WHEN}")
    created_at__gt = Instant("created_at", "gt", help_text=f"Created later. {_WHEN}")
    created_at__lte = Instant("created_at", "lte", help_text=f"Created then or earlier. {_WHEN}")
    created_at__lt = Instant("created_at", "lt", help_text=f"Created earlier. {_WHEN}")


class Changeable(Filters):
    """For short lists of things that change: also by time of the last change."""

    updated_at__gte = Instant("updated_at", "gte", help_text=f"Changed then or later. {_WHEN}")
    updated_at__lt = Instant("updated_at", "lt", help_text=f"Changed earlier. {_WHEN}")


def choice(kind: "type[Choices]", at: str) -> django_filters.ChoiceFilter:
    """One of the values of an enumeration."""
    assert isinstance(kind, EnumType)
    return django_filters.ChoiceFilter(field_name=at, choices=[(value, value) for value in kind.values])


def flag(at: str) -> django_filters.TypedChoiceFilter:
    """`true` or `false`; anything else is refused rather than ignored."""
    choices = [("true", "true"), ("false", "false")]
    return django_filters.TypedChoiceFilter(field_name=at, choices=choices, coerce=lambda value: value == "true")


def apply(kind: type[Filters], rows: "QuerySet[Any]", given: Any) -> "QuerySet[Any]":
    """The rows that match; BadParameter names every value that cannot be one."""
    if set(kind.base_filters).isdisjoint(given):
        return rows  # most lists are asked for as they are; a form costs more than their query
    filters = kind(data=given, queryset=rows)
    if not filters.is_valid():
        raise refusal({name: " ".join(str(text) for text in texts) for name, texts in filters.errors.items()})
    narrowed: QuerySet[Any] = filters.qs
    return narrowed


def refusal(faults: Mapping[str, str]) -> BadParameter:
    """What is said of parameters whose values cannot be taken."""
    name, text = next(iter(faults.items()))
    errors = [{"parameter": key, "detail": value} for key, value in faults.items()]
    return BadParameter(f"{name}: {text}", parameter=name, errors=errors)

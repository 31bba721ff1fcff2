"""Filters of the inbox's lists, each checked before it reaches the database."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request

from kernel.errors import Invalid

_FLAGS = {"true": True, "false": False}


def by_id(request: Request, rows: "QuerySet[Any]", *names: str) -> "QuerySet[Any]":
    """Rows whose `names` are the ids that the query gives; an id that is not there finds nothing."""
    for name in names:
        if name in request.query_params:
            rows = rows.filter(**{name: _id(name, request.query_params[name])})
    return rows


def by_word(request: Request, rows: "QuerySet[Any]", name: str, allowed: Sequence[str]) -> "QuerySet[Any]":
    """Rows with one of a few words."""
    if name not in request.query_params:
        return rows
    word = request.query_params[name]
    if word not in allowed:
        raise Invalid(f"{name} must be one of {', '.join(allowed)}.", pointer=f"/{name}")
    return rows.filter(**{name: word})


def by_flag(request: Request, rows: "QuerySet[Any]", name: str) -> "QuerySet[Any]":
    """Rows for which something is so, or is not."""
    if name not in request.query_params:
        return rows
    flag = _FLAGS.get(request.query_params[name])
    if flag is None:
        raise Invalid(f"{name} must be true or false.", pointer=f"/{name}")
    return rows.filter(**{name: flag})


def _id(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Invalid(f"{name} must be a UUID.", pointer=f"/{name}") from None

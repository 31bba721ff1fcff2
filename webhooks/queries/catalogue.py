"""The catalogue of public events: what may be subscribed to, and the JSON Schema of what then arrives."""

import types
import typing
from dataclasses import MISSING, fields
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from kernel.errors import Invalid
from kernel.events import DomainEvent, event_classes

ALL = "*"
_SCALARS: dict[Any, dict[str, Any]] = {
    UUID: {"type": "string", "format": "uuid"},
    datetime: {"type": "string", "format": "date-time"},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


class UnknownSlug(Invalid):
    code = "unknown_event_slug"


def public_events() -> dict[str, type[DomainEvent]]:
    """The events that integrators may receive, by slug."""
    return {slug: cls for slug, cls in event_classes().items() if cls.public}


def wildcards() -> list[str]:
    """The names of sets: everything, and everything of a family."""
    return [ALL, *sorted({f"{slug.partition('.')[0]}.*" for slug in public_events()})]


def check_slugs(slugs: list[str]) -> list[str]:
    """The slugs without repetition; UnknownSlug names those that no event and no set has, and lists all that exist."""
    known = [*public_events(), *wildcards()]
    unknown = sorted(set(slugs) - set(known))
    if unknown:
        raise UnknownSlug(
            f"Unknown: {', '.join(unknown)}. Known are {', '.join(known)}.", pointer="/slugs", known=known
        )
    if not slugs:
        raise Invalid(f"Name at least one event slug, or {ALL} for all.", pointer="/slugs", known=known)
    return list(dict.fromkeys(slugs))


def describe() -> list[dict[str, Any]]:
    """Every event type as the API shows it, in the order of the slugs."""
    return [
        {
            "object": "event_type",
            "slug": slug,
            "version": cls.version,
            "description": " ".join((cls.__doc__ or "").split()),
            "schema": schema_of(cls),
        }
        for slug, cls in public_events().items()
    ]


def schema_of(cls: type[DomainEvent]) -> dict[str, Any]:
    """JSON Schema (2020-12) of the body that a delivery of this event carries."""
    hints = typing.get_type_hints(cls)
    names = [f for f in fields(cls) if f.name != "workspace_id"]
    data = {
        "type": "object",
        "properties": {"id": _SCALARS[UUID], "workspace_id": _SCALARS[UUID]}
        | {f.name: _type(hints[f.name]) for f in names},
        # A field with a default came later: bodies from before do not have it.
        "required": ["id", "workspace_id", *(f.name for f in names if f.default is MISSING)],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": cls.slug,
        "type": "object",
        "properties": {"type": {"const": cls.slug}, "timestamp": _SCALARS[datetime], "data": data},
        "required": ["type", "timestamp", "data"],
    }


def _type(hint: Any) -> dict[str, Any]:
    """A type annotation as JSON Schema; what is no scalar is left open."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum | str):
        return {"type": "string"}
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return {"anyOf": [_type(part) for part in typing.get_args(hint)]}
    return {}

"""Filters and tags of the console's templates."""

from datetime import datetime
from typing import Any

import orjson
from django import template
from django.utils.safestring import SafeString

from kernel.admin import marks

register = template.Library()


@register.filter
def ago(moment: datetime | None) -> SafeString:
    return marks.ago(moment)


@register.filter
def chip(state: Any, label: str = "") -> SafeString:
    return marks.chip(str(state or ""), label)


@register.filter
def words(state: Any) -> str:
    return marks.words(str(state or ""))


@register.filter
def size(count: int | None) -> str:
    return marks.size(count)


@register.filter
def money(micros: int | None) -> str:
    return marks.money(micros)


@register.filter
def initials(name: Any) -> str:
    """Two letters for an avatar."""
    parts = [part for part in str(name or "?").replace("@", " ").replace(".", " ").split() if part[:1].isalnum()]
    return "".join(part[0] for part in parts[:2]).upper() or "?"


@register.filter
def hue(name: Any) -> int:
    """A steady colour for a name: the same person looks the same everywhere."""
    return sum(ord(letter) * (index + 7) for index, letter in enumerate(str(name or ""))) % 360


@register.filter
def pretty(value: Any) -> str:
    """Data as indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()


@register.filter
def get(mapping: Any, key: str) -> Any:
    return mapping.get(key, "") if isinstance(mapping, dict) else ""


@register.simple_tag
def choose(spec: Any, cl: Any) -> list[dict[str, Any]]:
    """The choices of a list filter, for links in a row."""
    return list(spec.choices(cl))

"""Filters and tags of the console's templates."""

from datetime import datetime
from typing import Any

import orjson
from django import template
from django.template.defaultfilters import linebreaksbr
from django.utils.safestring import SafeString

from agents import tools
from agents.tools import UnknownTool
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
def deed(action: Any) -> str:
    """What an action of an agent does, in the words of the registry of tools."""
    try:
        return tools.get(str(action)).description.rstrip(".")
    except UnknownTool:
        return marks.words(str(action)).capitalize()


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


@register.filter
def sheet(_: Any, cl: Any) -> bool:
    """Whether the filter sheet has something in it: saved views are tabs and not there."""
    return any(not getattr(spec, "is_views", False) for spec in cl.filter_specs)


@register.filter
def profile_name(thread: Any) -> str:
    """Whom a conversation is with, from what this workspace knows of them."""
    contact = thread.contact
    profiles = contact.profiles.all() if contact else ()
    own = next((profile for profile in profiles if profile.workspace_id == thread.workspace_id), None)
    return str(own) if own else (getattr(thread, "last_author", "") or "Unknown sender")


@register.filter(is_safe=True)
def lines(text: Any) -> SafeString:
    """Text with its line breaks. Addresses in mail are not made into links: what a stranger wrote is not to be clicked."""
    return linebreaksbr(str(text or ""), autoescape=True)


@register.filter
def duration(seconds: int | None) -> str:
    """`3 min`, `2 h`."""
    for limit, unit, step in ((90, "s", 1), (5400, "min", 60), (129600, "h", 3600)):
        if (seconds or 0) < limit:
            return f"{(seconds or 0) / step:.0f} {unit}"
    return f"{(seconds or 0) / 86400:.0f} d"

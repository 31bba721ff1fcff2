"""`expand=`: what an answer refers to, put beside the reference. One look-up per word, however many rows.

An app says how its resources are shown to others (`expandable`); a viewset says which of its ids may be followed, by
name, so that a lower app can be asked for what an upper one knows. The caller needs the permission of what is shown.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from kernel.access import Principal
from kernel.errors import BadParameter

Load = Callable[[Collection[UUID]], Iterable[tuple[Any, Any]]]


@dataclass(frozen=True)
class Expandable:
    """How resources of one kind are loaded by ids and shown."""

    permission: str
    shape: type[BaseSerializer[Any]]
    load: Load


_known: dict[str, Expandable] = {}


def expandable(name: str, *, permission: str, shape: type[BaseSerializer[Any]]) -> Callable[[Load], Load]:
    """Register a function that finds (id, body) for the ids that are referred to."""

    def register(load: Load) -> Load:
        _known[name] = Expandable(permission, shape, load)
        return load

    return register


def known(name: str) -> Expandable:
    """What is registered under a name."""
    return _known[name]


def wanted(request: Request, allowed: Mapping[str, str], principal: Principal) -> list[str]:
    """The words of `expand`, each allowed here and to this caller."""
    words = request.query_params.get("expand", "")
    names = list(dict.fromkeys(words.split(","))) if words else []
    for name in names:
        if name not in allowed:
            raise BadParameter(
                f"expand takes {', '.join(sorted(allowed))}, with commas between.",
                parameter="expand",
                allowed=sorted(allowed),
            )
        principal.require(known(name).permission)
    return names


def expand(bodies: list[dict[str, Any]], names: Iterable[str], allowed: Mapping[str, str]) -> None:
    """Put each named thing into the bodies that refer to it; null where there is none (or it is deleted)."""
    for name in names:
        field = allowed[name]
        ids = {UUID(str(body[field])) for body in bodies if body.get(field)}
        found = {str(key): value for key, value in known(name).load(ids)} if ids else {}
        for body in bodies:
            body[name] = found.get(str(body.get(field)))

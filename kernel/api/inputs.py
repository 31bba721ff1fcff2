"""What the input of every app shares: no field is ignored, no text is changed, free-form data comes back as it went in."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

MAX_FREE_BYTES = 65_536
MAX_FREE_DEPTH = 32
_SYSTEM = frozenset(
    {"id", "object", "workspace_id", "external_id", "created_at", "updated_at", "deleted_at", "version"}
)


def why_not(name: str) -> str:
    """The sentence for a member of a body that cannot be set."""
    if name == "metadata":
        return "metadata is set by the system only. Put data of your own into custom_metadata."
    if name in _SYSTEM:
        return f"{name} is set by the system and cannot be changed. Leave it out."
    return "There is no such field to set here. Leave it out."


_readers: dict[type[serializers.BaseSerializer[Any]], serializers.BaseSerializer[Any]] = {}


def reader(shape: type[serializers.BaseSerializer[Any]]) -> serializers.BaseSerializer[Any]:
    """The one instance of a shape that reads bodies: nothing of a body stays in it, and to make one copies every field."""
    if shape not in _readers:
        _readers[shape] = shape()
    return _readers[shape]


class Input(serializers.Serializer[Any]):
    """A body of which every member is known: what cannot be set is refused with 422, never dropped in silence."""

    def to_internal_value(self, data: Any) -> Any:
        refused: dict[str, Any] = {}
        if isinstance(data, Mapping):
            refused = {str(name): [why_not(str(name))] for name in data if name not in self.fields}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            faults: dict[str, Any] = (
                error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
            )
            raise serializers.ValidationError(faults | refused) from error
        if refused:
            raise serializers.ValidationError(refused)
        return values


class WholeCharacters(ProhibitSurrogateCharactersValidator):
    """The framework's, which looks at one character after the other, for texts in which there is something to find."""

    def __call__(self, value: Any) -> None:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            super().__call__(value)


class Text(serializers.CharField):
    """Text that is kept as it was given: not trimmed, and nothing but a string is taken for one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False} | options)
        others = [one for one in self.validators if not isinstance(one, ProhibitSurrogateCharactersValidator)]
        self.validators = [*others, WholeCharacters()]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class FreeForm(serializers.DictField):
    """`custom_metadata`: a JSON object of the caller's. Nobody reads it; it only has to come back unchanged.

    Numbers beyond 64 bits would not: they are floating point to one reader of JSON and whole to another.
    """

    default_error_messages = {
        "large": f"This may be at most {MAX_FREE_BYTES} bytes of JSON.",
        "deep": f"This may be nested at most {MAX_FREE_DEPTH} levels deep.",
        "number": "Numbers beyond 64 bits do not survive every reader of JSON. Send them as text.",
    }

    def to_internal_value(self, data: Any) -> Any:
        values = super().to_internal_value(data)
        if isinstance(data, Mapping):
            for value, depth in _walk(data):
                if depth > MAX_FREE_DEPTH:
                    self.fail("deep")
                if isinstance(value, float) and not -(2.0**63) < value < 2.0**63:
                    self.fail("number")
            if len(orjson.dumps(data)) > MAX_FREE_BYTES:
                self.fail("large")
        return values

    def run_child_validation(self, data: Any) -> Any:
        """No member is looked at."""
        return data


def _walk(data: Any) -> Iterator[tuple[Any, int]]:
    """Every value with its depth, without recursion."""
    pending: list[tuple[Any, int]] = [(data, 1)]
    while pending:
        value, depth = pending.pop()
        yield value, depth
        if depth > MAX_FREE_DEPTH:
            continue
        if isinstance(value, Mapping):
            pending += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            pending += [(inner, depth + 1) for inner in value]

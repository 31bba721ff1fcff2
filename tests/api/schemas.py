"""The API's description, and bodies held against it."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator, FormatChecker

METHODS = {"get", "post", "patch", "put", "delete"}


@cache
def description() -> dict[str, Any]:
    """As `/api/schema` gives it."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Every (method, path, operation)."""
    return [
        (method.upper(), path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]


def answer_of(operation: dict[str, Any], status: int) -> dict[str, Any]:
    """What the description says of a status, references followed."""
    found: dict[str, Any] = operation["responses"][str(status)]
    return resolve(found)


def resolve(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for."""
    if "$ref" not in part:
        return part
    found: Any = description()
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return found


def faults(schema: dict[str, Any], body: Any) -> list[str]:
    """Where a body is not as its schema says."""
    whole = schema | {"components": description()["components"]}
    checker = Draft202012Validator(whole, format_checker=FormatChecker())
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in checker.iter_errors(body)]

"""JSON Schemas of the API's description as Python types."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

# The module of the types that several resources need.
SHARED = "shared"

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

# What is said of a view or shape that has no words of its own.
_NO_WORDS = ("A viewset over one workspace.", "What every resource")
# Numbers of requirements.
_PAPERS = re.compile(r" \([SX]\d*-\d+[^)]*\)")


def words(text: str) -> str:
    """The first paragraph of a description, without what is of use inside the project only."""
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return "" if first.startswith(_NO_WORDS) else _PAPERS.sub("", first)


def _docstring(schema: dict[str, Any]) -> list[str]:
    said = words(schema.get("description", ""))
    return [f'    """{said}"""', ""] if said else []


def mentions(code: str, name: str) -> bool:
    """Whether a type is named in code."""
    return re.search(rf"\b{name}\b", code) is not None


class Types:
    """The named schemas: TypedDicts and Literals, by the names that the client gives them."""

    def __init__(self, description: dict[str, Any]) -> None:
        schemas, bodies = description["components"]["schemas"], _bodies(description["paths"])
        # The frames of lists are the client's own; bodies of requests are arguments of methods.
        self._schemas = {
            name: schema for name, schema in schemas.items() if not _is_frame(schema) and name not in bodies
        }
        self._frames = {name: schema for name, schema in schemas.items() if _is_frame(schema)}
        self._all = schemas

    @property
    def names(self) -> list[str]:
        """Of all of them."""
        return sorted({self._called(name) for name in self._schemas})

    def _called(self, name: str) -> str:
        """The name of a schema here. An enumeration that shares its word with a resource keeps its ending."""
        plain = _python_name(name)
        return name if name.endswith("Enum") and f"{plain}Shape" in self._all else plain

    def of(self, schema: dict[str, Any]) -> str:
        """The type of a schema."""
        if "$ref" in schema:
            return self._called(schema["$ref"].rpartition("/")[2])
        parts = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf")
        if parts:
            return " | ".join(dict.fromkeys(self.of(part) for part in parts))
        if "enum" in schema:
            return _literal(schema["enum"])
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return " | ".join(self._plain(kind, schema) for kind in kinds) or "Any"

    def _plain(self, kind: str, schema: dict[str, Any]) -> str:
        if kind == "array":
            return f"Sequence[{self.of(schema.get('items', {}))}]"
        if kind == "object":
            inner = schema.get("additionalProperties")
            return f"Mapping[str, {self.of(inner) if isinstance(inner, dict) else 'Any'}]"
        return _PLAIN.get(kind, "Any")

    def item(self, schema: dict[str, Any]) -> str | None:
        """What a list holds; None of what is no list. However the list is described: bare, or in its frame."""
        inner = schema.get("items", schema) if schema.get("type") == "array" else schema
        frame = self._frames.get(inner.get("$ref", "").rpartition("/")[2])
        if frame is None and _is_frame(inner):
            frame = inner
        if frame is not None:
            return self.of(frame["properties"]["data"]["items"])
        return self.of(inner) if schema.get("type") == "array" else None

    def fields(self, schema: dict[str, Any]) -> dict[str, tuple[str, bool]]:
        """Name, type and whether it is needed, of the fields of a body."""
        found = self._all[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        needed = set(found.get("required", ()))
        return {name: (self.of(inner), name in needed) for name, inner in found.get("properties", {}).items()}

    def definitions(self) -> dict[str, str]:
        """The code of each type, by its name; enumerations first."""
        kept = [(self._called(name), schema) for name, schema in self._schemas.items()]
        twice = {name for name, count in Counter(name for name, _ in kept).items() if count > 1}
        if twice:
            raise ValueError(f"More than one schema would be called {', '.join(sorted(twice))}. Rename a shape.")
        ordered = sorted(kept, key=lambda pair: (not _is_literal(pair[1]), pair[0]))
        return {name: "\n".join(self._definition(name, schema)) for name, schema in ordered}

    def homes(self, code: Mapping[str, str]) -> dict[str, str]:
        """Where each type lives, by the code of each resource: with the one resource that needs it, else in `shared`."""
        made = self.definitions()
        users = {name: {part for part, text in code.items() if mentions(text, name)} for name in made}
        # A type is needed, too, where a type that holds it is needed.
        for _ in made:
            for holder, text in made.items():
                for name in made:
                    if name != holder and mentions(text, name):
                        users[name] |= users[holder]
        return {name: next(iter(parts)) if len(parts) == 1 else SHARED for name, parts in users.items()}

    def _definition(self, name: str, schema: dict[str, Any]) -> list[str]:
        if _is_literal(schema):
            return [f"{name} = {_literal(schema['enum'])}", ""]
        needed, is_input = set(schema.get("required", ())), name.endswith("Input")
        lines = [f"class {name}(TypedDict):", *_docstring(schema)]
        for field, inner in schema.get("properties", {}).items():
            kind = self.of(inner)
            lines.append(f"    {field}: " + (f"NotRequired[{kind}]" if is_input and field not in needed else kind))
        return [*lines, ""]


def _is_frame(schema: dict[str, Any]) -> bool:
    return {"data", "next"} <= set(schema.get("properties", ()))


def _is_literal(schema: dict[str, Any]) -> bool:
    return "enum" in schema


def _bodies(paths: dict[str, Any]) -> set[str]:
    """The schemas that stand as the whole body of a request."""
    contents = [
        content
        for methods in paths.values()
        for operation in methods.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    return {content["schema"]["$ref"].rpartition("/")[2] for content in contents if "$ref" in content["schema"]}


def _python_name(name: str) -> str:
    """`EmailShape` is Email, `AddressShapeRequest` is AddressInput, `RiskEnum` is Risk."""
    if name.endswith("Request"):
        return _python_name(name.removesuffix("Request")) + "Input"
    return name.removesuffix("Enum").replace("Shape", "")


def _literal(values: list[Any]) -> str:
    return f"Literal[{', '.join(repr(value) for value in values)}]"

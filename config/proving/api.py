"""The API as it describes itself, and whether it describes all of itself."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from config.proving import routes
from config.proving.callers import Caller
from config.proving.findings import Findings

PREFIX = "/api/v1"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ANSWERS_WITH_ID = "{id}"


@dataclass(frozen=True)
class Operation:
    """One method of one path, with a body that is valid, where it takes one."""

    method: str
    path: str
    body: dict[str, Any] | None
    # Those of them that name a row, and those that name several.
    named: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def has_id(self) -> bool:
        return _ANSWERS_WITH_ID in self.path


@dataclass
class Api:
    """Every operation that the running system has."""

    operations: list[Operation] = field(default_factory=list)

    def paths_with_id(self) -> list[str]:
        return sorted({operation.path for operation in self.operations if operation.has_id})

    def body_of(self, method: str, path: str) -> dict[str, Any] | None:
        for operation in self.operations:
            if (operation.method, operation.path) == (method, path):
                return operation.body
        return {} if method in ("POST", "PUT", "PATCH") else None

    def lists(self) -> list[Operation]:
        """What answers with rows: collections, of the workspace or of one row."""
        return [each for each in self.operations if each.method == "GET" and "cursor" in each.parameters]

    def writes(self) -> list[Operation]:
        return [each for each in self.operations if each.method in ("POST", "PUT", "PATCH")]


def read(caller: Caller, found: Findings) -> Api:
    """Ask the running system for its description; what it leaves out is a part that is not proven."""
    document = orjson.loads(caller.ask("GET", "/api/schema").content)
    api = Api(list(_operations(document)))
    described = {operation.path.removeprefix(PREFIX) for operation in api.operations}
    for path in routes.routes():
        if path.rstrip("/") not in described:
            found.miss(f"the API does not describe {path}")
    return api


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if method.upper() not in METHODS:
                continue
            content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
            named = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            examples = list(content.get("examples", {}).values())
            fields = schemas.get(named, {}).get("properties", {})
            yield Operation(
                method.upper(),
                path,
                examples[0]["value"] if examples else ({} if content else None),
                tuple(name for name, schema in fields.items() if _is_id(schema)),
                tuple(name for name, schema in fields.items() if _is_id(schema.get("items", {}))),
                tuple(each["name"] for each in described.get("parameters", []) if each.get("in") == "query"),
            )


def _is_id(schema: dict[str, Any]) -> bool:
    return schema.get("format") == "uuid"

"""The Python client's types and resources, written from the API's description."""

import keyword
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pages import client_types
from tools.pages.client_types import Types

PREFIX = "/api/v1/"
RESOURCES = "resources"
ASYNC_RESOURCES = "async_resources"
HEADER = '"""{title}\n\nWritten by tools/write_client.py from the API\'s description. Change the API, then run it again.\n"""\n'
VERBS = {"get": "get", "post": "create", "put": "replace", "patch": "update", "delete": "delete"}


@dataclass
class Operation:
    """One method of a resource."""

    name: str
    method: str
    path: str
    words: str
    path_names: list[str]
    query: list[tuple[str, str]]
    required: list[tuple[str, str]]
    optional: list[tuple[str, str]]
    has_body: bool
    raw_type: str
    result: str
    is_paged: bool
    accept: str


def files(description: dict[str, Any]) -> dict[Path, str]:
    """By path below the package."""
    types = Types(description)
    resources: dict[str, list[Operation]] = defaultdict(list)
    for path, methods in sorted(description["paths"].items()):
        for method, operation in methods.items():
            if any(status.startswith("2") for status in operation["responses"]):
                found = _operations(types, path, method, operation)
                resources[path.removeprefix(PREFIX).partition("/")[0]] += found
    written: dict[Path, str] = {}
    for folder, is_async in ((RESOURCES, False), (ASYNC_RESOURCES, True)):
        for segment, operations in resources.items():
            written[Path(folder) / f"{_snake(segment)}.py"] = _resource(segment, operations, types, is_async=is_async)
        written[Path(folder) / "__init__.py"] = _index(sorted(resources), is_async=is_async)
    code = {_snake(part): written[Path(RESOURCES) / f"{_snake(part)}.py"] for part in resources}
    return written | _types(types, types.homes(code))


def _types(types: Types, homes: dict[str, str]) -> dict[Path, str]:
    """A module for each resource with types of its own, one for what several need, and the door to all of them."""
    modules: dict[str, list[str]] = defaultdict(list)
    for name, code in types.definitions().items():
        modules[homes[name]].append(code)
    shared = [name for name, home in homes.items() if home == client_types.SHARED]
    written: dict[Path, str] = {}
    for module, definitions in modules.items():
        body = "\n".join(definitions)
        used = [name for name in shared if module != client_types.SHARED and client_types.mentions(body, name)]
        about = "several resources take and give" if module == client_types.SHARED else f"`{module}` takes and gives"
        lines = [
            HEADER.format(title=f"What {about}. Times are text in ISO 8601."),
            "from __future__ import annotations",
            "from collections.abc import Mapping, Sequence",
            "from typing import Any, Literal, NotRequired, TypedDict",
            f"from autonomous_inbox.types.{client_types.SHARED} import {', '.join(used)}" if used else "",
            "",
            body,
        ]
        written[Path("types") / f"{module}.py"] = "\n".join(lines)
    doors = [f"from autonomous_inbox.types.{home} import {name}" for name, home in sorted(homes.items())]
    everything = ", ".join(repr(name) for name in sorted(homes))
    head = HEADER.format(title="What the API takes and gives. Times are text in ISO 8601.")
    return written | {Path("types/__init__.py"): "\n".join([head, *doors, "", f"__all__ = [{everything}]"])}


def _operations(types: Types, path: str, method: str, operation: dict[str, Any]) -> list[Operation]:
    """One, and one more for a body that is no JSON."""
    contents = operation.get("requestBody", {}).get("content", {})
    raw = [kind for kind in contents if kind != "application/json"]
    made = [_operation(types, path, method, operation, body=contents.get("application/json"), raw_type="")]
    if "application/json" not in contents and raw:
        made = []
    for kind in raw:
        other = _operation(types, path, method, operation, body=None, raw_type=kind)
        other.name += "_raw"
        made.append(other)
    return made


def _operation(
    types: Types, path: str, method: str, operation: dict[str, Any], *, body: dict[str, Any] | None, raw_type: str
) -> Operation:
    # References are to the headers that every operation shares; the client sets those itself.
    parameters = [p for p in operation.get("parameters", []) if p.get("in") == "query"]
    query = [(p["name"], types.of(p.get("schema", {}))) for p in parameters]
    fields = types.fields(body["schema"]) if body else {}
    required = [(name, kind) for name, (kind, is_required) in fields.items() if is_required]
    optional = [(name, kind) for name, (kind, is_required) in fields.items() if not is_required]
    required += [(p["name"], types.of(p["schema"])) for p in parameters if p.get("required")]
    status = next(code for code in sorted(operation["responses"]) if code.startswith("2"))
    accept, schema = next(iter(operation["responses"][status].get("content", {}).items()), ("", {}))
    schema = schema.get("schema", {})
    is_list = method == "get" and types.item(schema) is not None
    return Operation(
        name=_name(path, method, operation, is_list=is_list and not path.endswith("}")),
        method=method.upper(),
        path=_named(path),
        words=client_types.words(f"{operation['summary']}. {operation.get('description', '')}"),
        path_names=_places(path),
        query=[pair for pair in query if pair not in required],
        required=required,
        optional=optional,
        has_body=body is not None,
        raw_type=raw_type,
        result=_result(types, accept, schema, is_list=is_list),
        is_paged=is_list,
        accept=accept or "application/json",
    )


def _result(types: Types, accept: str, schema: dict[str, Any], *, is_list: bool) -> str:
    if not accept:
        return "None"
    if accept != "application/json":
        return "bytes"
    return str(types.item(schema)) if is_list else types.of(schema)


def _name(path: str, method: str, operation: dict[str, Any], *, is_list: bool) -> str:
    """`list`, `create`, `get`, … of a resource; else the last words of the path, or of the operation that has its own."""
    parts = path.removeprefix(PREFIX).split("/")
    tail = parts[-1]
    if len(parts) > 1 and not tail.startswith("{"):
        own = str(operation["operationId"]).removeprefix(f"{_snake(parts[0])}_")
        return own if method != "get" and own.endswith((_snake(tail), _singular(_snake(tail)))) else _snake(tail)
    return "list" if is_list else VERBS[method]


def _named(path: str) -> str:
    """The path with a telling name for the id in it: `/webhooks/{webhook_id}`."""
    segment = path.removeprefix(PREFIX).partition("/")[0]
    return path.replace("{id}", "{" + _snake(_singular(segment)) + "_id}")


def _places(path: str) -> list[str]:
    return [part[1:-1] for part in _named(path).split("/") if part.startswith("{")]


def _singular(word: str) -> str:
    for plural, single in (("ies", "y"), ("xes", "x"), ("s", "")):
        if word.endswith(plural):
            return word.removesuffix(plural) + single
    return word


def _snake(text: str) -> str:
    return text.replace("-", "_")


def _camel(segment: str) -> str:
    return "".join(part.capitalize() for part in segment.split("-"))


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _resource(segment: str, operations: list[Operation], types: Types, *, is_async: bool) -> str:
    code = _class(segment, operations, _pair(operations), is_async=is_async)
    names = [name for name in types.names if client_types.mentions(code, name)]
    return "\n".join(
        [
            HEADER.format(title=f"The resource `{PREFIX}{segment}`."),
            "from collections.abc import Mapping, Sequence",
            "from typing import Any, Literal, cast",
            "from urllib.parse import quote",
            "from autonomous_inbox.paging import AsyncPages, AsyncSender, Change, Pages, Sender",
            f"from autonomous_inbox.types import {', '.join(names)}" if names else "",
            "from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given",
            "",
            code,
        ]
    )


def _pair(operations: list[Operation]) -> tuple[Operation, Operation] | None:
    """The reading and the changing of one row, where both are possible: what a version guards."""
    by_name = {operation.name: operation for operation in operations}
    pair = by_name.get("get"), by_name.get("update")
    return (pair[0], pair[1]) if pair[0] and pair[1] else None


def _class(
    segment: str, operations: list[Operation], pair: tuple[Operation, Operation] | None, *, is_async: bool
) -> str:
    name = f"{'Async' if is_async else ''}{_camel(segment)}Resource"
    sender = "AsyncSender" if is_async else "Sender"
    lines = [
        f"class {name}:",
        f'    """`client.{_snake(segment)}`."""',
        "",
        f"    def __init__(self, client: {sender}) -> None:",
        "        self._client = client",
    ]
    for operation in operations:
        lines += ["", *_method(operation, is_async=is_async)]
    if pair:
        lines += _versioned(*pair, is_async=is_async)
    return "\n".join(lines) + "\n"


def _method(operation: Operation, *, is_async: bool) -> list[str]:
    pages = "AsyncPages" if is_async else "Pages"
    result = f"{pages}[{operation.result}]" if operation.is_paged else operation.result
    call = f"Call({', '.join(_call(operation))})"
    words = f"{operation.words} `{operation.method} {operation.path}`".strip()
    wait = "await " if is_async else ""
    if operation.is_paged:
        last = f"return {pages}(self._client, {call})"
    elif operation.result == "bytes":
        last = f"return ({wait}self._client.exchange({call})).content"
    elif operation.result == "None":
        last = f"{wait}self._client.send({call})"
    else:
        last = f'return cast("{operation.result}", {wait}self._client.send({call}))'
    start = "async def" if is_async and not operation.is_paged else "def"
    return [
        f"    {start} {operation.name}({', '.join(_signature(operation))}) -> {result}:",
        f'        """{words}"""',
        f"        {last}",
    ]


def _signature(operation: Operation) -> list[str]:
    named = [f"{_safe(name)}: {kind}" for name, kind in operation.required]
    named += [f"{_safe(name)}: {_or_unset(kind)} = UNSET" for name, kind in operation.optional]
    named += [f"{_safe(name)}: {kind} | None = None" for name, kind in operation.query]
    if operation.method == "POST":
        named.append("idempotency_key: str | None = None")
    if operation.method in ("PATCH", "DELETE"):
        named.append("if_match: str | None = None")
    places = [f"{name}: str" for name in operation.path_names]
    places += ["raw: bytes"] if operation.raw_type else []
    return ["self", *places, *(["*", *named] if named else [])]


def _or_unset(kind: str) -> str:
    bare = kind.removesuffix(" | None")
    return f"{bare} | Unset" + kind[len(bare) :]


def _call(operation: Operation) -> list[str]:
    path = operation.path
    for name in operation.path_names:
        path = path.replace("{" + name + "}", "{quote(" + name + ', safe="")}')
    parts = [f'"{operation.method}"', f"{'f' if operation.path_names else ''}'{path}'"]
    in_query = [name for name, _ in operation.query]
    in_query += [name for name, _ in operation.required if operation.method == "GET"]
    if in_query:
        parts.append("query={" + ", ".join(f'"{name}": {_safe(name)}' for name in in_query) + "}")
    if operation.has_body:
        fields = [name for name, _ in (*operation.required, *operation.optional)]
        parts.append(f"body=given({', '.join(f'{_safe(name)}={_safe(name)}' for name in fields)})")
    if operation.raw_type:
        parts += ["raw=raw", f'content_type="{operation.raw_type}"']
    if operation.accept != "application/json":
        parts.append(f'accept="{operation.accept}"')
    if operation.method == "POST":
        parts.append("key=idempotency_key")
    if operation.method in ("PATCH", "DELETE"):
        parts.append("if_match=if_match")
    return parts


def _versioned(read: Operation, write: Operation, *, is_async: bool) -> list[str]:
    """The two helpers around ETag and If-Match."""
    path, places = read.path, "".join(f", {name}: str" for name in read.path_names)
    for name in read.path_names:
        path = path.replace("{" + name + "}", "{quote(" + name + ', safe="")}')
    mark = "f" if read.path_names else ""
    start, wait = ("async def", "await ") if is_async else ("def", "")
    return [
        "",
        f"    {start} get_versioned(self{places}) -> Versioned[{read.result}]:",
        '        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""',
        f"        return {wait}self._client.versioned(Call(\"GET\", {mark}'{path}'))",
        "",
        f"    {start} edit(self{places}, change: Change[{read.result}], *, tries: int = 5) -> {write.result}:",
        '        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody',
        '        else was faster, it is asked again about what is there then."""',
        f"        read, write = Call(\"GET\", {mark}'{path}'), Call(\"PATCH\", {mark}'{path}')",
        f'        return cast("{write.result}", {wait}self._client.edit(read, write, change, tries=tries))',
    ]


def _index(segments: list[str], *, is_async: bool) -> str:
    folder, prefix = (ASYNC_RESOURCES, "Async") if is_async else (RESOURCES, "")
    return "\n".join(
        [
            HEADER.format(title=f"All resources, as attributes of {'an asynchronous' if is_async else 'a'} client."),
            *(
                f"from autonomous_inbox.{folder}.{_snake(segment)} import {prefix}{_camel(segment)}Resource"
                for segment in segments
            ),
            f"from autonomous_inbox.paging import {prefix}Sender\n",
            f"class {prefix}Resources:",
            f'    """What {"an asynchronous" if is_async else "a"} client offers."""',
            "",
            f"    def __init__(self, client: {prefix}Sender) -> None:",
            *(f"        self.{_snake(segment)} = {prefix}{_camel(segment)}Resource(client)" for segment in segments),
        ]
    )

"""Ids of another workspace in every place of a request that can carry one: filters, bodies, headers, cursors."""

from collections.abc import Mapping
from urllib.parse import urlencode
from uuid import uuid4

import orjson

from config.proving import unknown
from config.proving.api import Api, Operation
from config.proving.callers import Answer, Caller
from config.proving.findings import Findings
from config.proving.scene import Place

# What a list might be thought to know, beside what it says that it knows.
_WIDENING = ("workspace_id", "workspace", "tenant_id", "tenant", "account", "owner", "sub", "scope", "all", "as", "pk")
_HEADERS = (
    "X-Workspace-Id", "X-Workspace", "Workspace", "X-Tenant-Id", "X-Account-Id", "X-Forwarded-User", "X-Remote-User",
    "X-Forwarded-Host", "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "X-User-Id",
)  # fmt: skip
_NAMING = ("workspace_id", "workspace", "tenant_id", "id", "parent_id", "owner_id")


def cursors(api: Api, caller: Caller) -> dict[str, str]:
    """The cursors that a workspace is given, by list."""
    found = {}
    for operation in api.lists():
        if not operation.has_id:
            page = caller.ask("GET", f"{operation.path}?limit=1")
            cursor = orjson.loads(page.content).get("next") if page.status == 200 else None
            if cursor:
                found[operation.path] = cursor
    return found


def walk(
    found: Findings, api: Api, ours: Caller, place: Place, foreign: Mapping[str, str], given: Mapping[str, str]
) -> None:
    """Try them all as somebody who may do everything in a workspace of their own; `given` are the other's cursors."""
    ids = _one_of_each(foreign)
    for operation in api.lists():
        if operation.has_id:
            continue
        usual = ours.ask("GET", operation.path)
        _filters(found, operation, ours, ids, place)
        _widening(found, operation, ours, usual, place)
        _headers(found, operation, ours, usual, place)
        _cursors(found, operation, ours, given, place)
    for operation in api.writes():
        _bodies(found, operation, ours, ids, place)


def _one_of_each(foreign: Mapping[str, str]) -> dict[str, str]:
    """One id of each table is enough here: the places are many."""
    return {name: value for name, value in foreign.items() if name.endswith("#0")}


def _filters(found: Findings, operation: Operation, ours: Caller, ids: Mapping[str, str], place: Place) -> None:
    for parameter in operation.parameters:
        if not parameter.endswith(("_id", "id", "_id__in")) and parameter not in ("expand", "q", "search"):
            continue
        nothing = {
            kind: ours.ask("GET", f"{operation.path}?{urlencode({parameter: make()})}")
            for kind, make in unknown.KINDS.items()
        }
        for name, value in ids.items():
            answer = ours.ask("GET", f"{operation.path}?{urlencode({parameter: value})}")
            where = f"{operation.path}?{parameter}= with {name}"
            _compare(found, where, answer, nothing[unknown.kind(value)], value, place)


def _widening(found: Findings, operation: Operation, ours: Caller, usual: Answer, place: Place) -> None:
    for parameter in (*_WIDENING, *operation.parameters):
        answer = ours.ask("GET", f"{operation.path}?{urlencode({parameter: str(place.id)})}")
        found.count("parameter_routes")
        if answer.status == 200 and _size(answer) > _size(usual):
            found.leak(f"{operation.path}?{parameter}= shows more rows than without")
        _look(found, f"{operation.path}?{parameter}=", answer, place)


def _headers(found: Findings, operation: Operation, ours: Caller, usual: Answer, place: Place) -> None:
    for header in (*_HEADERS, "Cookie"):
        value = f"workspace={place.id}; workspace_id={place.id}" if header == "Cookie" else str(place.id)
        answer = ours.ask("GET", operation.path, headers={header: value})
        found.count("parameter_routes")
        if answer.status != usual.status or _size(answer) > _size(usual):
            found.leak(f"{operation.path} answers otherwise with the header {header}")
        _look(found, f"{operation.path} with {header}", answer, place)


def _cursors(found: Findings, operation: Operation, ours: Caller, given: Mapping[str, str], place: Place) -> None:
    for origin, cursor in given.items():
        answer = ours.ask("GET", f"{operation.path}?{urlencode({'cursor': cursor})}")
        found.count("parameter_routes")
        _look(found, f"{operation.path}?cursor= of {origin}", answer, place)


def _bodies(found: Findings, operation: Operation, ours: Caller, ids: Mapping[str, str], place: Place) -> None:
    """Each field that names a row, and fields that nobody asked for.

    External ids are unique over the whole installation (S0-30, S0-33): there a 409 is the documented answer, and only what
    it shows is looked at.
    """
    nowhere, named = operation.path.replace("{id}", str(uuid4())), (*operation.named, *operation.listed)
    # Of our own, where a field names a row: else it would not even be looked at.
    own = _own(operation, ours) if named else nowhere
    for field in (*named, *_NAMING):
        path = own if field in named else nowhere

        def ask(value: str, path: str = path, field: str = field) -> Answer:
            given = [value] if field in operation.listed else value
            return ours.ask(operation.method, path, {**(operation.body or {}), field: given})

        absent = {kind: ask(make()) for kind, make in unknown.KINDS.items()}
        for name, value in ids.items():
            where = f"{operation.method} {operation.path} {field} with {name}"
            answer = ask(value)
            measure = answer if field == "external_id" else absent[unknown.kind(value)]
            _compare(found, where, answer, measure, value, place)
            if field not in named:
                break


def _own(operation: Operation, ours: Caller) -> str:
    """The path with the id of a row of ours, the first of the list that it is in."""
    collection, has_id, rest = operation.path.partition("/{id}")
    if not has_id:
        return operation.path
    rows = orjson.loads(ours.ask("GET", collection).content).get("data") or [{"id": uuid4()}]
    return f"{collection}/{rows[0]['id']}{rest}"


def _compare(found: Findings, where: str, answer: Answer, absent: Answer, value: str, place: Place) -> None:
    """The same as for an id that nobody has, but for the id itself."""
    found.count("parameter_routes")
    if answer.status != absent.status:
        found.leak(f"{where}: {answer.status}, and {absent.status} for an id that nobody has")
    _look(found, where, Answer(answer.status, answer.content.replace(value.encode(), b"")), place)


def _look(found: Findings, where: str, answer: Answer, place: Place) -> None:
    if place.mark.encode() in answer.content:
        found.leak(f"{where}: something of the other workspace is shown")
    if answer.status >= 500:
        found.leak(f"{where}: {answer.status}")


def _size(answer: Answer) -> int:
    return len(orjson.loads(answer.content).get("data", ())) if answer.status == 200 else 0

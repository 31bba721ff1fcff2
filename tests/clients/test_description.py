"""Neither the client nor the API can drift: every operation of the live description has its method, and the reverse."""

import inspect
import json
import re
import urllib.request
from typing import Any

import httpx2
import pytest
from autonomous_inbox import AsyncClient, Client
from autonomous_inbox.wire import Retries

pytestmark = pytest.mark.xdist_group("clients")
OWN = {"get_versioned", "edit"}
ADDED = {"idempotency_key", "if_match"}


@pytest.fixture(scope="module")
def described(api: str) -> dict[str, Any]:
    request = urllib.request.Request(f"{api}/api/schema", headers={"Accept": "application/vnd.oai.openapi+json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def operations(described: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Those that can succeed, by method and path; names of places in the path do not matter."""
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if any(status.startswith("2") for status in operation["responses"])
    }


def methods(client: Any) -> list[tuple[str, Any]]:
    """Every method of every resource."""
    return [
        (f"{name}.{verb}", method)
        for name, resource in vars(client).items()
        if not name.startswith("_")
        for verb, method in inspect.getmembers(resource, inspect.ismethod)
        if not verb.startswith("_") and verb not in OWN
    ]


def given(method: Any) -> tuple[list[Any], dict[str, Any]]:
    """Something for every argument that it must have: what it is does not matter for where it goes."""
    parameters = inspect.signature(method).parameters.values()
    places = [b"raw" if p.name == "raw" else "7" for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    return places, {p.name: "x" for p in parameters if p.kind == p.KEYWORD_ONLY and p.name not in ADDED}


def test_every_operation_has_a_method_and_every_method_an_operation(described):
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, json={"data": [], "next": None})

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = Client("https://inbox.example.com", "mk_x", http=http, retries=Retries(times=0))
    wanted, found = operations(described), set()
    for name, method in methods(client):
        places, named = given(method)
        asked.clear()
        result = method(*places, **named)
        list(result) if hasattr(result, "pages") else None
        (request,) = asked
        key = request.method, re.sub(r"/7(?=/|$)", "/{}", request.url.path)
        assert key in wanted, name
        found.add(key)
        _compare(name, request, wanted[key], named, described)
    assert found == set(wanted)


def _compare(name: str, request: httpx2.Request, operation: dict[str, Any], named: dict[str, Any], described) -> None:
    """The names that a method takes are those of the description, no more and no fewer; and they are sent."""
    query = {p["name"] for p in operation.get("parameters", []) if p.get("in") == "query"}
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    body = set(schema.get("properties", {})) if request.headers.get("content-type") != "message/rfc822" else set()
    assert {argument.rstrip("_") for argument in named} == query | body, name
    assert set(request.url.params) == query, name
    if body:
        assert set(json.loads(request.content)) == body, name
    if request.method == "POST":
        assert request.headers["Idempotency-Key"]


def test_both_clients_offer_the_same(described):
    one, other = Client("https://inbox.example.com", "mk_x"), AsyncClient("https://inbox.example.com", "mk_x")
    left, right = dict(methods(one)), dict(methods(other))
    assert left.keys() == right.keys()
    for name, method in left.items():
        a, b = inspect.signature(method), inspect.signature(right[name])
        assert list(a.parameters.values()) == list(b.parameters.values()), name
    one.close()

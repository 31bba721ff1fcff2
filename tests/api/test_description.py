"""The description of the API: whole, without warnings, and every example in it is true of the running thing."""

import uuid
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from django.core.management import call_command
from django.test import Client

from agents.models import ApprovalRequest
from kernel.api.components import HEADERS
from kernel.transactions import in_workspace
from tests.agents.factories import bind, play, receive, work
from tests.api.conftest import Caller, second
from tests.api.schemas import answer_of, description, faults, operations

# One worker makes the description of the API once for all of them.
pytestmark = pytest.mark.xdist_group("description")

# What needs an agent and an inbox at work, before the examples that pause and close them.
FIRST = ("/api/v1/approvals", "/api/v1/inboxes", "/api/v1/replies", "/api/v1/threads")
ALWAYS = {"400", "401", "403", "429"}


def test_it_is_made_without_a_warning_and_valid(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
    assert description()["openapi"] == "3.1.0"


def test_it_is_served_to_anybody(db):
    served = Client().get("/api/schema")
    assert served.status_code == 200
    assert served.json() == orjson.loads(orjson.dumps(description()))


@pytest.mark.parametrize(("method", "path", "operation"), operations(), ids=lambda part: str(part)[:60])
def test_every_operation_says_all_about_itself(method, path, operation):
    assert operation["summary"]
    assert operation["description"]
    assert not operation["operationId"].startswith("api_")
    assert operation["security"]
    found = set(operation["responses"])
    wanted = ALWAYS | ({"404"} if "{" in path else set())
    wanted |= {"409"} if method in ("POST", "PATCH", "DELETE") else set()
    wanted |= {"412"} if method in ("PATCH", "DELETE") else set()
    wanted |= {"413", "415", "422"} if method in ("POST", "PATCH") else set()
    assert wanted <= found, wanted - found
    asked = {parameter.get("$ref", "").rpartition("/")[2] for parameter in operation["parameters"]}
    assert "X-Request-Id" in asked
    assert ("If-Match" in asked) is (method in ("PATCH", "DELETE"))
    assert ("Idempotency-Key" in asked) is (method == "POST")
    for code in found:
        answer = answer_of(operation, int(code))
        if code < "300":
            assert {"X-Request-Id", "RateLimit", "RateLimit-Policy"} <= set(answer["headers"])
        if code >= "400":
            assert answer["content"]["application/problem+json"]["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert set(answer.get("headers", {})) <= set(HEADERS)
    if "{id}" in path and path.endswith("{id}") and method == "GET":
        assert "304" in found
        assert "ETag" in answer_of(operation, 200)["headers"]


def _contents() -> list[tuple[str, Any, Any]]:
    """Every example of an answer with the schema that it should fit."""
    found = []
    for method, path, operation in operations():
        for code in operation["responses"]:
            for kind, content in answer_of(operation, int(code)).get("content", {}).items():
                if "json" in kind:
                    examples = content.get("examples", {})
                    found.append((f"{method} {path} {code}", content["schema"], examples))
    return found


def test_every_answer_has_an_example_that_fits_its_schema():
    count = 0
    for name, schema, examples in _contents():
        assert examples, f"{name} has no example"
        for example in examples.values():
            assert faults(schema, example["value"]) == [], name
            count += 1
    print(f"{count} examples of answers")
    assert count > 300


def test_a_schema_finds_fault_with_a_wrong_body():
    """Else the test above could not fail."""
    (schema,) = [schema for name, schema, _ in _contents() if name == "GET /api/v1/emails/{id} 200"]
    assert faults(schema, {"object": "email"}) != []


def _requests() -> list[tuple[str, str, dict[str, Any], str, Any]]:
    """Every example of a request."""
    return [
        (method, path, operation, kind, example["value"])
        for method, path, operation in operations()
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
        for example in content.get("examples", {}).values()
    ]


def test_every_body_that_is_taken_has_an_example():
    with_examples = {(method, path) for method, path, *_ in _requests()}
    for method, path, operation in operations():
        if operation.get("requestBody"):
            assert (method, path) in with_examples, (method, path)


def test_every_example_of_a_request_is_answered_as_it_says(world, settings):
    """Sent to the running API: done, with a body that fits. Then once more under its key: replayed."""
    caller = Caller(world.id)
    settings.PROVISIONING_TOKEN = "provisioning-token-of-this-test"
    _own_domain(world, "example.com")
    done = 0
    for method, path, operation, kind, example in sorted(_requests(), key=_late):
        where, value = _path(world, caller, path), _value(world, path, example)
        ask = _account_system() if "provisioning" in path else caller
        key = {"Idempotency_Key": f"example-{done}"} if method == "POST" and ask is caller else {}
        answer = ask(method, where, value, content_type=kind, **key)
        codes = [int(code) for code in operation["responses"] if code < "300"]
        assert answer.status_code in codes, (method, path, answer.content)
        schema = answer_of(operation, answer.status_code)["content"]["application/json"]["schema"]
        assert faults(schema, answer.json()) == [], (method, path)
        if key:
            again = ask(method, where, value, content_type=kind, **key)
            assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (
                answer.status_code, answer.json(), "true",
            )  # fmt: skip
        done += 1
    print(f"{done} examples of requests")
    assert done >= 25


def _late(request: tuple[str, str, dict[str, Any], str, Any]) -> bool:
    method, path, *_ = request
    return method != "POST" or not path.startswith(FIRST)


def _own_domain(world, domain: str) -> None:
    from tenancy.services import domains

    domains.claim(workspace_id=world.id, domain=domain)
    domains.confirm(workspace_id=world.id, domain=domain, proof="test")


def _account_system() -> Any:
    client = Client(headers={"authorization": "Bearer provisioning-token-of-this-test"})

    def ask(method: str, path: str, value: Any, *, content_type: str) -> Any:
        return client.generic(method, path, data=orjson.dumps(value), content_type=content_type)

    return ask


def _value(world, path: str, value: Any) -> Any:
    """The body with the id of what is there: a role of the workspace; a mail that no agent has taken is answered once."""
    if path.endswith(("/give", "/take")):
        return value | {"membership_id": world.ids["memberships"]}
    if path.endswith(("/merge", "/split", "/move")):
        own = {"into": world.ids["threads"], "entry_ids": [world.ids["entry"]], "from_entry": world.ids["entry"]}
        return {name: own[name] for name in value}
    if "roles" in value:
        return value | {"roles": [world.ids["roles"]]}
    if not path.startswith("/api/v1/replies"):
        return value
    bind(world.office.house, None)
    email = receive(world.office, sender=f"{uuid.uuid4().hex[:8]}@customer.test")
    bind(world.office.house, world.office.agent)
    return value | {"email_id": str(email.id)}


def _path(world, caller: Caller, path: str) -> str:
    """The path with an id for which the example makes sense: a question is answered once."""
    if path.endswith(("/approve", "/reject")):
        play()
        receive(world.office, sender=f"{uuid.uuid4().hex[:8]}@customer.test")
        work()
        with in_workspace(world.id):
            return path.replace("{id}", str(ApprovalRequest.objects.filter(state="pending").latest("created_at").id))
    if path.endswith(("/merge", "/split", "/move")):
        thread_id, world.ids["entry"] = map(str, second(world))
        return path.format(id=thread_id)
    if path.startswith("/api/v1/machine-keys/"):
        key = caller("POST", "/machine-keys", {"name": "Another", "scopes": ["thread.read"]})
        return path.replace("{id}", key.json()["id"])
    if path.endswith("/take"):
        caller("POST", path.replace("take", "give").format(id=world.ids["roles"]), _value(world, path, {}))
    if path.endswith("/enable"):
        caller("POST", path.replace("enable", "disable").format(id=world.ids["webhooks"]))
    return path.format(id=world.ids.get(path.split("/")[3], ""))


def _needed(operation: dict[str, Any]) -> dict[str, Any]:
    """The parameters without which a resource is not told, by their examples."""
    asked = [parameter for parameter in operation["parameters"] if parameter.get("in") == "query"]
    needed = [parameter for parameter in asked if parameter.get("required")]
    return {parameter["name"]: next(iter(parameter["examples"].values()))["value"] for parameter in needed}


def test_every_resource_answers_as_it_is_described(world):
    """Every GET: its documented status, with a body that fits its schema and the headers that are promised."""
    caller, seen = Caller(world.id), 0
    for method, path, operation in operations():
        if method != "GET":
            continue
        query = urlencode(_needed(operation))
        answer = caller.get(path.format(id=world.ids.get(path.split("/")[3], "")) + (f"?{query}" if query else ""))
        assert answer.status_code == 200, (path, answer.content)
        described = answer_of(operation, 200)
        for name in described["headers"]:
            assert answer.has_header(name), (path, name)
        content = described["content"].get("application/json")
        if content:
            body = answer.json()
            assert faults(content["schema"], body) == [], path
            assert body.get("data", [body]), path
        seen += 1
    assert seen >= 20

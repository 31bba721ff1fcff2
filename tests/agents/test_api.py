"""The agents' API: what each route does, who may, and that another workspace's rows are simply not there."""

import uuid
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from agents.services import learning
from inbox.models import OutboundMessage
from kernel.transactions import in_workspace
from tenancy.services import keys
from tests.agents.factories import ANSWER, case, office, play, receive, receive_many, work

ALL = ["agent.read", "agent.manage", "approval.read", "approval.decide"]


def _client(place, scopes=tuple(ALL)):
    _, secret = keys.issue(workspace_id=place.id, name="test key", scopes=list(scopes))
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def place(db):
    return office(autonomy="draft")


def test_an_agent_is_made_changed_and_removed(place):
    client = _client(place)
    made = client.post(
        "/api/v1/agents", {"name": "Two", "model": "m", "skills": ["s"], "system_prompt": " x "}, format="json"
    )
    assert made.status_code == 201
    body = made.json()
    assert (body["object"], body["version"], body["autonomy"], body["status"]) == ("agent", 1, "draft", "active")
    assert (body["model"], body["skills"], body["system_prompt"], body["provider"]) == ("m", ["s"], " x ", "")
    assert body["permissions"] == ["agent.read", "email.send", "thread.read"]
    path = f"/api/v1/agents/{body['id']}"
    changed = client.patch(path, {"autonomy": "supervised", "custom_metadata": {"a": 1}}, format="json").json()
    assert (changed["version"], changed["autonomy"], changed["model"]) == (2, "supervised", "m")
    assert changed["custom_metadata"] == {"a": 1}
    assert client.get(path).json()["version"] == 2
    assert [agent["name"] for agent in client.get("/api/v1/agents").json()["data"]] == ["Two", "Help desk"]
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert len(client.get("/api/v1/agents").json()["data"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"autonomy": "total"},
        {"max_steps": 1000},
        {"provider": "skynet"},
        {"name": ""},
        {"skills": "x"},
        {"permissions": ["*"]},
    ],
)
def test_a_change_that_cannot_be_is_a_422_that_points(place, change):
    answer = _client(place).patch(f"/api/v1/agents/{place.agent.id}", change, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/" + next(iter(change)))


def test_what_only_the_system_sets_is_refused(place):
    client = _client(place)
    path = f"/api/v1/agents/{place.agent.id}"
    before = client.get(path).json()
    forged = {"metadata": {"x": 1}, "version": 9, "id": str(uuid4()), "object": "x", "workspace_id": str(uuid4())}
    answer = client.patch(path, forged | {"name": "New"}, format="json")
    assert answer.status_code == 422
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {f"/{name}" for name in forged}
    assert client.get(path).json() == before


def test_a_run_shows_all_that_happened(place):
    play()
    email = receive(place)
    work()
    client = _client(place)
    listed = client.get("/api/v1/agent-runs").json()["data"]
    assert [(run["email_id"], run["status"], run["used_language_model"]) for run in listed] == [
        (str(email.id), "waiting_approval", True)
    ]
    assert (listed[0]["provider"], listed[0]["model"], listed[0]["cost_micros"]) == ("scripted", "script", 50)
    run = client.get(f"/api/v1/agent-runs/{listed[0]['id']}").json()
    assert [step["kind"] for step in run["steps"]] == ["context", "knowledge", "model", "plan", "action"]
    assert run["intent"]["arguments"]["text"] == ANSWER
    assert run["approval"]["content"]["text"] == ANSWER
    assert run["approval"]["agent_run_id"] == run["id"]
    assert client.get("/api/v1/agent-runs?status=succeeded").json()["data"] == []
    assert client.get(f"/api/v1/agent-runs?email_id={email.id}").json()["data"]
    assert client.get("/api/v1/agent-runs?status=flying").status_code == 400
    assert client.get("/api/v1/agent-runs?agent_id=x").status_code == 400


def test_a_run_is_read_only(place):
    play()
    receive(place)
    client = _client(place, ["*"])
    path = f"/api/v1/agent-runs/{client.get('/api/v1/agent-runs').json()['data'][0]['id']}"
    for method in ("post", "put", "patch", "delete"):
        target = "/api/v1/agent-runs" if method == "post" else path
        assert getattr(client, method)(target, {}, format="json").status_code == 405
    assert client.put(f"/api/v1/agents/{place.agent.id}", {}, format="json").status_code == 405


def test_an_answer_is_approved_in_other_words(place):
    play()
    email = receive(place)
    work()
    client = _client(place)
    (waiting,) = client.get("/api/v1/approvals?state=pending").json()["data"]
    path = f"/api/v1/approvals/{waiting['id']}"
    assert client.get(path).json() == waiting
    decided = client.post(f"{path}/approve", {"text": "We are open until 14.", "comment": "shorter"}, format="json")
    assert decided.status_code == 200
    assert (decided.json()["state"], decided.json()["edited"]) == ("approved", True)
    assert decided.json()["decided_by_label"] == "test key"
    again = client.post(f"{path}/reject", {}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "approval_already_decided")
    work()
    assert case(email).intent.arguments["text"] == "We are open until 14."
    assert client.get(path).json()["state"] == "consumed"


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u200b", "\u00a0", None])
def test_no_words_are_no_edit_and_no_approval_either(place, text):
    play()
    email = receive(place)
    work()
    client = _client(place)
    path = f"/api/v1/approvals/{client.get('/api/v1/approvals').json()['data'][0]['id']}"
    refused = client.post(f"{path}/approve", {"text": text}, format="json")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/text")
    work()
    assert (client.get(path).json()["state"], case(email).replies) == ("pending", [])
    assert client.post(f"{path}/approve", {"text": ANSWER}, format="json").json()["state"] == "approved"
    work()
    assert len(case(email).replies) == 1


def test_the_same_decision_sent_twice_is_answered_twice_and_done_once(place):
    play()
    receive(place)
    work()
    client = _client(place)
    path = f"/api/v1/approvals/{client.get('/api/v1/approvals').json()['data'][0]['id']}/approve"
    first = client.post(path, {}, format="json", HTTP_IDEMPOTENCY_KEY="once")
    second = client.post(path, {}, format="json", HTTP_IDEMPOTENCY_KEY="once")
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.headers["Idempotency-Replayed"] == "true"


def test_an_answer_is_rejected(place):
    play()
    email = receive(place)
    work()
    client = _client(place)
    path = f"/api/v1/approvals/{client.get('/api/v1/approvals').json()['data'][0]['id']}"
    assert client.post(f"{path}/reject", {"comment": "no"}, format="json").json()["state"] == "rejected"
    work()
    with in_workspace(place.id):
        assert not OutboundMessage.objects.exists()
    assert case(email).execution.status == "needs_human"


def test_knowledge_is_kept_over_the_api(place):
    client = _client(place)
    made = client.post(
        "/api/v1/knowledge-sources", {"title": "Prices", "content": "# Keys\n\nA key is free."}, format="json"
    )
    assert (made.status_code, made.json()["object"]) == (201, "knowledge_source")
    path = f"/api/v1/knowledge-sources/{made.json()['id']}"
    assert client.get(path).json()["content"] == "# Keys\n\nA key is free."
    assert "content" not in client.get("/api/v1/knowledge-sources").json()["data"][0]
    assert client.patch(path, {"content": "A key is dear."}, format="json").json()["content"] == "A key is dear."
    assert client.patch(path, {"content": " "}, format="json").status_code == 422
    assert client.post("/api/v1/knowledge-sources", {"title": "x"}, format="json").status_code == 422
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_another_workspace_finds_nothing(place):
    play()
    receive(place)
    work()
    source = learning.add(workspace_id=place.id, title="Secret", content="Secret.")
    ours = _client(place)
    run = ours.get("/api/v1/agent-runs").json()["data"][0]["id"]
    approval = ours.get("/api/v1/approvals").json()["data"][0]["id"]
    theirs = _client(office("globex"), ["*"])
    tries = [
        ("get", f"/api/v1/agents/{place.agent.id}"),
        ("patch", f"/api/v1/agents/{place.agent.id}"),
        ("delete", f"/api/v1/agents/{place.agent.id}"),
        ("get", f"/api/v1/agent-runs/{run}"),
        ("get", f"/api/v1/approvals/{approval}"),
        ("post", f"/api/v1/approvals/{approval}/approve"),
        ("post", f"/api/v1/approvals/{approval}/reject"),
        ("get", f"/api/v1/knowledge-sources/{source.id}"),
        ("patch", f"/api/v1/knowledge-sources/{source.id}"),
        ("delete", f"/api/v1/knowledge-sources/{source.id}"),
    ]
    for method, path in tries:
        foreign = getattr(theirs, method)(path, {}, format="json")
        absent = getattr(theirs, method)(path.replace(path.split("/")[4], str(uuid.uuid4())), {}, format="json")
        assert (foreign.status_code, absent.status_code) == (404, 404), path
        strip = {"request_id": ""}
        assert foreign.json() | strip == absent.json() | strip
    for path in ("agent-runs", "approvals"):
        assert theirs.get(f"/api/v1/{path}").json()["data"] == []
    assert ours.get(f"/api/v1/approvals/{approval}").json()["state"] == "pending"


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("get", "agents", "agent.read"),
        ("post", "agents", "agent.manage"),
        ("patch", "agents/{id}", "agent.manage"),
        ("delete", "agents/{id}", "agent.manage"),
        ("get", "agent-runs", "agent.read"),
        ("get", "approvals", "approval.read"),
        ("post", "approvals/{id}/approve", "approval.decide"),
        ("post", "approvals/{id}/reject", "approval.decide"),
        ("get", "knowledge-sources", "agent.read"),
        ("post", "knowledge-sources", "agent.manage"),
        ("patch", "knowledge-sources/{id}", "agent.manage"),
        ("delete", "knowledge-sources/{id}", "agent.manage"),
    ],
)
def test_each_route_needs_its_permission(place, method, path, scope):
    path = f"/api/v1/{path.format(id=uuid4())}"
    others = [name for name in ALL if name != scope]
    refused = getattr(_client(place, others), method)(path, {}, format="json")
    assert (refused.status_code, refused.json()["permission"]) == (403, scope)
    assert getattr(_client(place, [scope]), method)(path, {}, format="json").status_code != 403
    assert getattr(APIClient(), method)(path, {}, format="json").status_code in (401, 403)


def test_lists_cost_the_same_however_long(place):
    play()
    client = _client(place)
    assert client.get("/api/v1/agents").status_code == 200  # notes that the key is in use
    counts: dict[str, list[int]] = {}
    for size in (2, 8):
        receive_many(place, size)
        work()
        for path in ("agents", "agent-runs", "approvals", "knowledge-sources"):
            with CaptureQueriesContext(
                connection,
            ) as found:
                assert client.get(f"/api/v1/{path}").status_code == 200
            counts.setdefault(path, []).append(len(found))
        run = client.get("/api/v1/agent-runs").json()["data"][0]["id"]
        with CaptureQueriesContext(connection) as found:
            client.get(f"/api/v1/agent-runs/{run}")
        counts.setdefault("one run", []).append(len(found))
    assert {path: few for path, (few, many) in counts.items() if few != many} == {}
    assert max(few for few, _ in counts.values()) <= 16


def test_the_description_of_the_api_is_whole():
    from drf_spectacular.generators import SchemaGenerator

    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    for path in ("/agents", "/agents/{id}", "/agent-runs/{id}", "/approvals/{id}/approve", "/knowledge-sources"):
        assert f"/api/v1{path}" in paths, sorted(paths)

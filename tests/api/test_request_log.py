"""The log that integrators read: every request of theirs, nobody else's, nothing that was said, at no cost to anybody."""

import logging
import os
import time
import urllib.error
import urllib.request
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import services, tasks, worker
from audit.models import ApiRequest
from kernel import clock
from kernel.transactions import in_all_workspaces
from tests.agents.factories import office
from tests.api.conftest import Caller
from tests.console import seed
from tests.console.conftest import signed_in
from tests.factories.every import make
from tests.world.serving import serving

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@pytest.fixture
def place(db):
    return office("acme")


def lines(workspace_id):
    worker.flush()
    with in_all_workspaces("a test reads the log"):
        return list(ApiRequest.objects.filter(workspace_id=workspace_id).order_by("created_at"))


def test_each_request_is_one_line_that_says_how_it_went(place):
    caller = Caller(place.id, name="Order system")
    absent, secret = uuid4(), "s3cr3t-of-the-customer"
    sent = [
        caller.get("/agents?limit=1"),
        caller.get(f"/agents/{place.agent.id}", X_Request_Id="my-own-request-id"),
        caller.get(f"/agents/{absent}"),
        caller("POST", "/webhooks", {"url": f"https://example.com/{secret}", "slugs": [secret]}),
        caller("POST", "/webhooks", {"url": f"https://example.com/{secret}", "slugs": ["*"]}),
        caller.get(f"/agents?{secret}=1"),
    ]
    found = lines(place.id)
    assert [(row.method, row.path, row.status, row.code) for row in found] == [
        ("GET", "/api/v1/agents", 200, ""),
        ("GET", "/api/v1/agents/{id}", 200, ""),
        ("GET", "/api/v1/agents/{id}", 404, "not_found"),
        ("POST", "/api/v1/webhooks", 422, "unknown_event_slug"),
        ("POST", "/api/v1/webhooks", 201, ""),
        ("GET", "/api/v1/agents", 400, "unknown_parameter"),
    ]
    assert [row.request_id for row in found] == [answer["X-Request-Id"] for answer in sent]
    assert found[1].request_id == "my-own-request-id"
    assert {row.caller for row in found} == {"Order system"}
    assert all(0 <= row.duration_ms < 60_000 for row in found)
    with connection.cursor() as cursor, in_all_workspaces("a test looks for what must not be there"):
        cursor.execute("SELECT string_agg(r::text, ' ') FROM audit_apirequest r")
        told = cursor.fetchone()[0]
    for word in (secret, caller.secret, "whsec_", "example.com", str(absent), str(place.agent.id)):
        assert word not in told


def test_it_is_read_over_the_api_by_those_who_may_and_own_it(place):
    caller = Caller(place.id)
    for path in ("/agents", "/inboxes", f"/agents/{uuid4()}"):
        last = caller.get(path)
    worker.flush()
    rows = caller.get("/request-log").json()["data"]
    assert [row["path"] for row in rows] == ["/api/v1/agents/{id}", "/api/v1/inboxes", "/api/v1/agents"]
    assert set(rows[0]) == {
        "object",
        "id",
        "created_at",
        "request_id",
        "method",
        "path",
        "status",
        "code",
        "caller",
        "duration_ms",
    }
    by_id = caller.get(f"/request-log?request_id={last['X-Request-Id']}").json()["data"]
    assert [row["id"] for row in by_id] == [rows[0]["id"]]
    assert len(caller.get("/request-log?status__gte=400").json()["data"]) == 1
    assert caller.get("/request-log?code=not_found&method=GET").json()["data"] == [rows[0]]
    page = caller.get("/request-log?limit=2&path=/api/v1/agents").json()
    assert [row["path"] for row in page["data"]] == ["/api/v1/agents"]
    assert Caller(place.id, "audit.read").get("/request-log").json()["permission"] == "request.read"
    assert Caller(office("globex").id).get("/request-log").json()["data"] == []
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert caller(method, "/request-log", {}).status_code == 405
        assert caller(method, f"/request-log/{rows[0]['id']}", {}).status_code == 404


def test_strangers_write_nothing_and_a_fault_of_ours_is_a_line(place, monkeypatch):
    from inbox.api import views

    caller = Caller(place.id)
    caller.client.get("/api/v1/agents", headers={"authorization": "Bearer mk_no_such"})
    caller.client.get("/healthz")
    assert lines(place.id) == []
    monkeypatch.setattr(views.shapes.InboxShape, "to_representation", lambda *_: 1 / 0, raising=False)
    broken = caller.get("/inboxes")
    problem = broken.json()
    assert (broken.status_code, broken["Content-Type"]) == (500, "application/problem+json")
    assert (problem["code"], problem["request_id"]) == ("server_error", broken["X-Request-Id"])
    assert "ZeroDivision" not in broken.content.decode()
    (row,) = lines(place.id)
    assert (row.status, row.code, row.request_id) == (500, "server_error", broken["X-Request-Id"])


def test_a_request_asks_the_database_nothing_for_it(place):
    caller = Caller(place.id)
    caller.get("/inboxes")
    with CaptureQueriesContext(connection) as found:
        caller.get("/inboxes")
    assert "audit_apirequest" not in str([query["sql"] for query in found])
    with CaptureQueriesContext(connection) as found:
        assert worker.flush() == 2
    assert len([query for query in found if "INSERT" in query["sql"]]) == 1


def test_nobody_waits_or_fails_when_it_cannot_be_written(place, monkeypatch, caplog, settings):
    def away(_rows):
        raise psycopg.OperationalError("the database is away")

    caller = Caller(place.id)
    settings.REQUEST_LOG_BUFFER = 3
    with caplog.at_level(logging.WARNING, logger="audit.worker"), monkeypatch.context() as patch:
        patch.setattr(services, "keep_requests", away)
        assert [caller.get("/inboxes").status_code for _ in range(5)] == [200] * 5
        assert worker.flush() == 0
    assert [(line.name, line.lost) for line in caplog.records if line.name == "audit.worker"] == [("audit.worker", 3)]
    caller.get("/agents")
    assert [row.path for row in lines(place.id)] == ["/api/v1/agents"]


def test_lines_past_their_time_are_forgotten(place, settings):
    settings.REQUEST_LOG_KEEP_DAYS = 30
    now = clock.now()
    for days in (0, 29, 31, 400):
        make(ApiRequest, place.id, created_at=now - timedelta(days=days), path=f"/{days}")
    tasks.prune_requests()
    assert [row.path for row in lines(place.id)] == ["/29", "/0"]
    assert services.prune_requests(older_than=timedelta(days=0), batch=1) == 2


def test_people_read_it_in_the_console_and_cannot_change_it(place):
    owner, stranger = seed.person("owner@acme.example"), seed.person("reader@acme.example")
    seed.member(owner, place.house.workspace, "request.read")
    seed.member(stranger, place.house.workspace, "audit.read")
    row = make(ApiRequest, place.id, path="/api/v1/webhooks", status=422, code="invalid", caller="Order system")
    make(ApiRequest, office("globex").id, path="/api/v1/secret-of-globex")
    path = "/console/audit/apirequest/"
    client = signed_in(owner)
    shown = client.get(path).content.decode()
    assert "Order system" in shown
    assert "secret-of-globex" not in shown
    assert "Order system" in client.get(f"{path}?answer=refused&method=GET").content.decode()
    assert "Order system" not in client.get(f"{path}?answer=done").content.decode()
    assert client.get(f"{path}{row.id}/change/").status_code == 200
    for verb in ("change/", "delete/"):
        client.post(f"{path}{row.id}/{verb}", {"caller": "x", "post": "yes"})
    assert client.post(f"{path}add/", {}).status_code == 403
    assert [line.caller for line in lines(place.id)] == ["Order system"]
    assert signed_in(stranger).get(path).status_code == 403


def test_a_real_server_writes_it_by_itself(place):
    """A process of its own, as in production: the line is there a moment after the answer, and after a stop too."""
    caller = Caller(place.id)
    with serving(REQUEST_LOG_FLUSH_SECONDS="0.2") as address:
        request = urllib.request.Request(
            f"{address}/api/v1/agents", headers={"Authorization": f"Bearer {caller.secret}"}
        )
        _until(lambda: _status(request) == 200, 60)
        _until(lambda: lines(place.id), 20)
    assert {row.path for row in lines(place.id)} == {"/api/v1/agents"}


def _status(request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status
    except urllib.error.URLError:
        return 0


def _until(holds, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)

"""The resources over HTTP: what is allowed beside what is refused, and what another workspace sees."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent, AuditPayload
from kernel import clock
from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import SLUG, Api, dispatch, emit, hook, new_workspace, rows
from tests.webhooks.receiver import answer

GOOD = {"url": "https://example.com/hook", "slugs": ["email.*", SLUG]}


def test_the_life_of_a_webhook(workspace, api):
    made = api(
        "POST", "/webhooks", GOOD | {"label": "CRM", "headers": {"X-Key": "s3cr3t"}, "custom_metadata": {"a": 1}}
    )
    assert made.status_code == 201
    body = made.json()
    assert body["object"] == "webhook"
    assert body["secret"].startswith("whsec_")
    assert (body["label"], body["state"], body["header_names"]) == ("CRM", "active", ["X-Key"])
    assert body["custom_metadata"] == {"a": 1}
    assert "s3cr3t" not in made.content.decode()

    path = f"/webhooks/{body['id']}"
    assert api("GET", path).json() == {k: v for k, v in body.items() if k != "secret"}
    changed = api("PATCH", path, {"label": "ERP", "slugs": ["*"], "rate_per_second": 7, "ordered": True}).json()
    assert (changed["label"], changed["slugs"], changed["rate_per_second"], changed["ordered"]) == (
        "ERP",
        ["*"],
        7,
        True,
    )
    assert changed["updated_at"] > body["updated_at"]
    turned = api("POST", f"{path}/rotate-secret").json()
    assert turned["secret"] != body["secret"]
    assert turned["previous_secret_until"]
    assert api("POST", f"{path}/disable").json()["state"] == "disabled"
    assert api("POST", f"{path}/test").status_code == 409
    enabled = api("POST", f"{path}/enable", {}).json()
    assert (enabled["state"], enabled["replayed"]) == ("active", 0)
    assert api("DELETE", path).status_code == 204
    assert api("GET", path).status_code == 404
    assert api("GET", "/webhooks").json()["data"] == []
    with in_all_workspaces("test"):
        actions = list(
            AuditEvent.objects.filter(resource_id=body["id"], outcome="done")
            .order_by("sequence")
            .values_list("action", flat=True)
        )
        details = "\n".join(str(row) for row in AuditPayload.objects.values())
    assert actions == [
        "webhook.create", "webhook.update", "webhook.rotate_secret", "webhook.disable", "webhook.enable", "webhook.delete"
    ]  # fmt: skip
    assert "whsec" not in details
    assert "s3cr3t" not in details


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"slugs": ["email.recieved"]}, "/slugs"),
        ({"slugs": ["email.*", "mail.*"]}, "/slugs"),
        ({"slugs": ["e*"]}, "/slugs"),
        ({"slugs": ["**"]}, "/slugs"),
        ({"slugs": ["inbound_message.stored"]}, "/slugs"),  # exists, but is not public
        ({"slugs": []}, "/slugs"),
        ({"slugs": "email.*"}, "/slugs"),
        ({"url": "http://example.com/"}, "/url"),
        ({"url": "https://example.com/" + "a" * 2000}, "/url"),
        ({"headers": {"Host": "x"}}, "/headers"),
        ({"headers": {"Webhook-Signature": "x"}}, "/headers"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "/headers"),
        ({"headers": {"X": "a\r\nHost: b"}}, "/headers"),
        ({"headers": {"a b": "x"}}, "/headers"),
        ({"headers": {f"x-{n}": "y" for n in range(21)}}, "/headers"),
        ({"rate_per_second": 0}, "/rate_per_second"),
        ({"rate_per_second": 10_001}, "/rate_per_second"),
        ({"label": "x" * 201}, "/label"),
        ({"metadata": {"a": 1}}, "/metadata"),
        ({"state": "disabled"}, "/state"),
        ({"secret": "whsec_mine"}, "/secret"),
    ],
)
def test_what_a_webhook_may_not_be(workspace, settings, api, change, pointer):
    settings.OUTBOUND_ALLOW_HTTP = False
    good = api("POST", "/webhooks", GOOD).json()
    for response in (api("POST", "/webhooks", GOOD | change), api("PATCH", f"/webhooks/{good['id']}", change)):
        assert response.status_code == 422, response.content
        assert response["content-type"] == "application/problem+json"
        assert any(error["pointer"].startswith(pointer) for error in response.json()["errors"]), response.content
    assert len(api("GET", "/webhooks").json()["data"]) == 1


def test_an_unknown_slug_is_answered_with_the_list(workspace, api):
    problem = api("POST", "/webhooks", GOOD | {"slugs": ["nope"]}).json()
    assert problem["code"] == "unknown_event_slug"
    assert {"email.received", "email.*", "*", "webhook.disabled"} <= set(problem["known"])
    assert "inbound_message.stored" not in problem["known"]
    offered = api("GET", "/event-types").json()["data"]
    assert {row["slug"] for row in offered} | {name for name in problem["known"] if "*" in name} == set(
        problem["known"]
    )


def test_labels_need_not_differ(workspace, api):
    for _ in range(2):
        assert api("POST", "/webhooks", GOOD | {"label": "same"}).status_code == 201


def test_an_idempotent_creation_happens_once(workspace, api):
    first = api("POST", "/webhooks", GOOD, **{"Idempotency-Key": "k"})
    again = api("POST", "/webhooks", GOOD, **{"Idempotency-Key": "k"})
    assert (first.json(), again["Idempotency-Replayed"]) == (again.json(), "true")
    assert len(api("GET", "/webhooks").json()["data"]) == 1


READ = ["/webhooks", "/webhooks/{webhook}", "/webhook-deliveries", "/webhook-deliveries/{delivery}"]
EVENTS = ["/system-events", "/system-events/{event}", "/event-types"]
MANAGE = [
    ("POST", "/webhooks"), ("PATCH", "/webhooks/{webhook}"), ("DELETE", "/webhooks/{webhook}"),
    ("POST", "/webhooks/{webhook}/rotate-secret"), ("POST", "/webhooks/{webhook}/test"),
    ("POST", "/webhooks/{webhook}/enable"), ("POST", "/webhooks/{webhook}/disable"),
    ("POST", "/webhooks/{webhook}/replay"),
]  # fmt: skip


@pytest.fixture
def delivered(workspace, receiver) -> dict[str, str]:
    webhook = hook(workspace, receiver.url())
    emit(workspace)
    dispatch()
    (row,) = rows()
    return {"webhook": str(webhook.id), "delivery": str(row.id), "event": str(row.system_event_id)}


def test_each_route_needs_its_permission(workspace, delivered):
    reader, manager, watcher = (
        Api(workspace, "webhook.read"),
        Api(workspace, "webhook.manage"),
        Api(workspace, "event.read"),
    )
    everything = [("GET", path) for path in READ + EVENTS] + MANAGE
    allowed = {
        reader: {("GET", path) for path in READ},
        watcher: {("GET", path) for path in EVENTS},
        manager: set(MANAGE),
    }
    for caller, routes in allowed.items():
        for method, path in everything:
            if method == "DELETE" and (method, path) in routes:
                continue
            status = caller(method, path.format(**delivered), {} if method != "GET" else None).status_code
            assert (status == 403) is ((method, path) not in routes), (method, path, status)
    assert manager("DELETE", MANAGE[2][1].format(**delivered)).status_code == 204
    assert Api(workspace, "email.*")("GET", "/webhooks").status_code == 403


def test_without_a_key_nothing_is_shown(client, delivered):
    for path in READ + EVENTS:
        assert client.get("/api/v1" + path.format(**delivered), secure=True).status_code == 401


def test_another_workspace_finds_nothing_and_learns_nothing(workspace, delivered):
    stranger = Api(new_workspace())
    hook(stranger.workspace_id, "https://example.com/")
    absent = {name: str(uuid.uuid4()) for name in delivered}
    for method, path in [("GET", path) for path in READ + EVENTS] + MANAGE:
        if "{" not in path:
            continue
        body = None if method == "GET" else {"since": "2020-01-01T00:00:00Z"} if "replay" in path else {}
        real, unreal = (stranger(method, path.format(**ids), body) for ids in (delivered, absent))
        assert real.status_code == unreal.status_code == 404, (method, path)
        strip = {"request_id"}
        assert {k: v for k, v in real.json().items() if k not in strip} == {
            k: v for k, v in unreal.json().items() if k not in strip
        }
    for path in ("/webhook-deliveries", "/system-events"):
        assert delivered["event"] not in stranger("GET", path).content.decode()
    mine = stranger("GET", "/webhooks").json()["data"][0]["id"]
    theft = stranger("POST", f"/webhooks/{mine}/replay", {"delivery_id": delivered["delivery"]})
    assert theft.status_code == 404
    assert len(rows(id=delivered["delivery"])) == 1


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/webhook-deliveries", "/system-events", "/event-types"])
def test_read_only_resources_refuse_writes(workspace, api, method, path, delivered):
    ids = {"/webhook-deliveries": delivered["delivery"], "/system-events": delivered["event"]}
    assert api(method, path, {}).status_code == 405
    if path in ids:
        assert api(method, f"{path}/{ids[path]}", {}).status_code == 405
    assert api("PUT", f"/webhooks/{delivered['webhook']}", {}).status_code == 405


def test_a_delivery_tells_its_attempts(workspace, receiver, api):
    receiver.scripts["/hook"] = answer(500, body=b"internal details")
    hook(workspace, receiver.url())
    emit(workspace)
    dispatch()
    (row,) = api("GET", "/webhook-deliveries").json()["data"]
    assert (row["object"], row["status"], row["attempts"], row["slug"]) == ("webhook_delivery", "pending", 1, SLUG)
    assert row["next_attempt_at"]
    detail = api("GET", f"/webhook-deliveries/{row['id']}")
    (attempt,) = detail.json()["attempt_log"]
    assert (attempt["number"], attempt["status_code"]) == (1, 500)
    assert "internal details" not in detail.content.decode()
    event = api("GET", f"/system-events/{row['system_event_id']}").json()
    assert (event["object"], event["slug"], event["data"]["id"]) == ("system_event", SLUG, event["id"])


def test_lists_filter_and_page(workspace, receiver, api):
    first, second = hook(workspace, receiver.url("/a")), hook(workspace, receiver.url("/b"))
    receiver.scripts["/b"] = answer(500)
    emit(workspace, 7)
    dispatch()

    def ids(query: str) -> list[str]:
        return [row["id"] for row in api("GET", f"/webhook-deliveries?{query}").json()["data"]]

    assert len(ids("")) == 14
    assert len(ids(f"webhook_id={first.id}")) == 7
    assert len(ids(f"webhook_id={second.id}&status=pending")) == 7
    assert ids(f"webhook_id={second.id}&status=delivered") == []
    assert len(ids(f"system_event_id={rows()[0].system_event_id}")) == 2
    assert api("GET", "/webhook-deliveries?status=lost").status_code == 400
    assert api("GET", "/webhook-deliveries?webhook_id=1").status_code == 400
    seen, query = [], "limit=5"
    while True:
        page = api("GET", f"/webhook-deliveries?{query}").json()
        seen += [row["id"] for row in page["data"]]
        if page["next"] is None:
            break
        query = f"limit=5&cursor={page['next']}"
    assert len(seen) == len(set(seen)) == 14
    assert len(api("GET", f"/system-events?slug={SLUG}&limit=100").json()["data"]) == 8  # with the workspace's own
    assert len(api("GET", "/system-events?slug=workspace.*&limit=100").json()["data"]) == 8
    assert api("GET", "/system-events?slug=email.*").json()["data"] == []


@pytest.mark.parametrize("path", ["/webhooks", "/webhook-deliveries", "/system-events"])
def test_a_list_asks_as_much_for_ten_rows_as_for_one(workspace, receiver, api, path):
    counts = []
    for number in (1, 9):
        for _ in range(number):
            hook(workspace, receiver.url())
        emit(workspace, number)
        with CaptureQueriesContext(connection) as queries:
            assert api("GET", path).status_code == 200
        counts.append([q["sql"] for q in queries if q["sql"].startswith("SELECT") and "set_config" not in q["sql"]])
    assert len(counts[0]) == len(counts[1]) <= 2, counts
    assert "secret_sealed" not in str(counts)


def test_a_test_reaches_its_endpoint_only(workspace, receiver, api):
    target, other = hook(workspace, receiver.url("/t"), ["email.*"]), hook(workspace, receiver.url("/o"), ["*"])
    sent = api("POST", f"/webhooks/{target.id}/test")
    assert sent.status_code == 202
    assert sent.json()["slug"] == "webhook.test"
    dispatch()
    assert api("GET", f"/webhook-deliveries/{sent.json()['id']}").json()["status"] == "delivered"
    assert len(receiver.at("/t")) == 1
    api("POST", f"/webhooks/{other.id}/replay", {"since": (clock.now() - timedelta(hours=1)).isoformat()})
    dispatch()
    assert b"webhook.test" not in b"".join(request.body for request in receiver.at("/o"))


def test_statistics_say_how_an_endpoint_does(workspace, api, receiver, settings):
    settings.WEBHOOK_RETRY_SECONDS = [3600]
    receiver.scripts["/bad"] = answer(500)
    good, bad = hook(workspace, receiver.url("/good")), hook(workspace, receiver.url("/bad"))
    emit(workspace, 10)
    dispatch()
    emit(new_workspace(), 3)

    found = api("GET", f"/webhooks/{good.id}/statistics").json()
    assert (found["object"], found["webhook_id"]) == ("webhook_statistics", str(good.id))
    assert found["deliveries"] == {"pending": 0, "delivered": 10, "failed": 0, "cancelled": 0}
    assert (found["success_rate"], found["attempts"], found["waiting"]["count"]) == (1.0, 10, 0)
    assert 0 <= found["duration_ms"]["p50"] <= found["duration_ms"]["p95"]
    assert 0 <= found["delay_ms"]["p50"] <= found["delay_ms"]["p95"]
    assert [(step["delivered"], step["failed"]) for step in found["series"]] == [(10, 0)]

    found = api("GET", f"/webhooks/{bad.id}/statistics").json()
    assert found["deliveries"]["pending"] == found["waiting"]["count"] == 10
    assert (found["success_rate"], found["delay_ms"], found["attempts"]) == (None, None, 10)
    assert found["waiting"]["oldest_created_at"] is not None

    tomorrow = (clock.now() + timedelta(days=1)).isoformat().replace("+00:00", "Z")
    later = api("GET", f"/webhooks/{good.id}/statistics?since={tomorrow}&until=2099-01-01T00:00:00Z")
    assert (later.status_code, later.json()["errors"][0]["parameter"]) == (400, "since")
    assert "31 days" in later.json()["detail"]
    empty = api("GET", f"/webhooks/{good.id}/statistics?until=2020-01-02T00:00:00Z").json()
    assert (empty["series"], empty["success_rate"], empty["deliveries"]["delivered"]) == ([], None, 0)


def test_statistics_of_another_workspace_are_not_found(workspace, api):
    foreign = hook(new_workspace(), "https://example.com/hook")
    unknown = api("GET", f"/webhooks/{uuid.uuid4()}/statistics")
    assert unknown.status_code == 404
    assert api("GET", f"/webhooks/{foreign.id}/statistics").json()["code"] == unknown.json()["code"]

"""What may be asked of lists: filters, orders, expansions and pages, each from an allow-list, each at a constant cost."""

import re
from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import worker
from tests.agents.factories import office, play, receive_many, work
from tests.api.conftest import Caller, furnish
from tests.api.schemas import operations
from webhooks.services import subscribing

LISTS = [
    "/agents", "/agent-runs", "/approvals", "/attachments", "/audit-anchors", "/audit-events", "/canned-answers",
    "/circuit-breakers", "/client-certificates", "/connections", "/emails", "/inboxes", "/invitations",
    "/knowledge-sources", "/machine-keys", "/members", "/request-log", "/revoked-client-certificates", "/revoked-tokens", "/roles",
    "/system-events", "/tags", "/teams", "/thread-changes", "/threads", "/views", "/webhooks", "/webhook-deliveries",
]  # fmt: skip
# Of one row each.
WITHIN = ["/threads/{id}/entries", "/threads/{id}/notes", "/threads/{id}/tags", "/views/{id}/threads"]


def names_of(path: str) -> list[str]:
    """The parameters that the description gives a list."""
    for method, where, operation in operations():
        if method == "GET" and where == f"/api/v1{path}":
            return [parameter["name"] for parameter in operation["parameters"] if parameter.get("in") == "query"]
    raise AssertionError(path)


def test_every_list_of_the_description_is_looked_at_here():
    found = {
        path.removeprefix("/api/v1")
        for method, path, operation in operations()
        if method == "GET" and "cursor" in [parameter.get("name") for parameter in operation["parameters"]]
    }
    assert found == {*LISTS, *WITHIN}


def test_only_what_a_list_names_is_taken(world, caller):
    """Each parameter that is described is known; every other one, and each twice or empty, is refused with the names."""
    caller.get("/workspace")
    worker.flush()
    for path in [*LISTS, *(path.format(id=world.ids[path.split("/")[1]]) for path in WITHIN)]:
        known = names_of(re.sub(r"/[0-9a-f-]{36}", "/{id}", path))
        for name in ("workspace_id", "id", "created_at", "created_at__year", "page", "offset", "fields", "limit__gt",
                     "metadata", "format", "inbox__workspace_id", "Limit"):  # fmt: skip
            problem = caller.get(f"{path}?{name}=x")
            assert (problem.status_code, problem.json()["code"]) == (400, "unknown_parameter"), (path, name)
            assert problem.json()["allowed"] == sorted(known)
            assert all(word in problem.json()["detail"] for word in known)
        for query in ("limit=1&limit=2", "cursor=", "limit=%00", "created_at__gte="):
            assert caller.get(f"{path}?{query}").json()["code"] in {"invalid_parameter", "bad_cursor"}, (path, query)
        assert caller.get(
            f"{path}?created_at__gte=2020-01-01T00:00:00Z&created_at__lt=2100-01-01T00:00:00%2B02:00"
        ).json()["data"], path
        assert caller.get(f"{path}?created_at__gte=2100-01-01T00:00:00Z").json()["data"] == []
        for when in (
            "yesterday",
            "2026",
            "2026-13-01T00:00:00Z",
            "0001-01-01T00:00:00%2B18:00",
            "9999-12-31T23:59:59-18:00",
        ):
            assert caller.get(f"{path}?created_at__gte={when}").status_code == 400, (path, when)
    for path in (f"/agents/{world.ids['agents']}", "/workspace", "/event-types", f"/webhooks/{world.ids['webhooks']}"):
        assert caller.get(f"{path}?limit=1").json()["code"] == "unknown_parameter", path
    assert caller("POST", f"/webhooks/{world.ids['webhooks']}/disable?force=1").json()["code"] == "unknown_parameter"


FILTERS = [
    ("/agents", "status", "active", "paused", "busy"),
    ("/agents", "autonomy", "draft", "autonomous", "total"),
    ("/agent-runs", "status", "waiting_approval", "failed", "flying"),
    ("/agent-runs", "email_id", "{emails}", str(uuid4()), "x"),
    ("/approvals", "state", "pending", "rejected", "maybe"),
    ("/approvals", "agent_run_id", "{agent-runs}", str(uuid4()), "1"),
    ("/emails", "state", "waiting_approval", "failed", "lost"),
    ("/emails", "inbox_id", "{inboxes}", str(uuid4()), "'; DROP TABLE"),
    ("/inboxes", "active", "true", "false", "yes"),
    ("/inboxes", "address", "support@acme.test", "other@acme.test", "a" * 321),
    ("/threads", "status", "open", "closed", "ajar"),
    ("/threads", "inbox_id", "{inboxes}", str(uuid4()), "[]"),
    ("/thread-changes", "kind", "merge", "split", "melt"),
    ("/thread-changes", "source_thread_id", "{merged-threads}", str(uuid4()), "1"),
    ("/thread-changes", "target_thread_id", "{target-threads}", str(uuid4()), "{}"),
    ("/circuit-breakers", "scope", "sender", "workspace", "world"),
    ("/circuit-breakers", "inbox_id", "{inboxes}", str(uuid4()), "x"),
    ("/webhooks", "state", "active", "disabled", "on"),
    ("/webhooks", "label", "CRM", "ERP", "x" * 201),
    ("/webhook-deliveries", "status", "pending", "failed", "lost"),
    ("/webhook-deliveries", "webhook_id", "{webhooks}", str(uuid4()), "%20"),
    ("/system-events", "slug", "email.received", "email.lost", "x" * 81),
    ("/system-events", "slug", "email.*", "mail.*", "y" * 900),
    ("/machine-keys", "state", "active", "expired", "lost"),
    ("/client-certificates", "state", "active", "revoked", "lost"),
    ("/revoked-client-certificates", "serial", "f", "a", "x" * 65),
    ("/revoked-tokens", "jti", "a-token", "b-token", "x" * 81),
    ("/members", "status", "active", "suspended", "removed"),
    ("/invitations", "state", "open", "accepted", "lost"),
    ("/invitations", "email", "guest@people.test", "else@people.test", "x" * 255),
    ("/roles", "name", "Shift", "Drift", "x" * 61),
    ("/request-log", "status", "200", "599", "ok"),
    ("/connections", "provider", "smtp", "ses", "pop3"),
    ("/connections", "state", "pending_authorization", "connected", "perfect"),
    ("/audit-events", "outcome", "done", "failed", "perhaps"),
    ("/audit-events", "action", "inbox.open", "inbox.shut", "x" * 81),
    ("/audit-events", "resource_id", "{inboxes}", str(uuid4()), "x" * 81),
    ("/audit-events", "actor_kind", "machine_key", "ghost", "x" * 21),
    ("/audit-events", "resource_kind", "inbox", "outbox", "x" * 61),
    ("/request-log", "method", "GET", "PUT", "x" * 11),
]


def test_filters_narrow_and_refuse_what_no_value_can_be(world, caller):
    caller.get("/agents")
    worker.flush()
    for path, name, some, none, bad in FILTERS:
        whole = caller.get(f"{path}?limit=100").json()["data"]
        found = caller.get(f"{path}?{name}={some.format(**world.ids)}").json()["data"]
        assert found, (path, name)
        assert [row for row in whole if row in found] == found, (path, name)
        assert caller.get(f"{path}?{name}={none}").json()["data"] == [], (path, name)
        problem = caller.get(f"{path}?{name}={bad}")
        assert (problem.status_code, problem.json()["code"]) == (400, "invalid_parameter"), (path, name)
        assert problem.json()["errors"][0]["parameter"] == name


def test_attachments_are_those_of_a_mail_or_of_an_entry(caller):
    (row,) = caller.get("/attachments").json()["data"]
    for name in ("email_id", "entry_id"):
        assert caller.get(f"/attachments?{name}={row[name]}").json()["data"] == [row]
        assert caller.get(f"/attachments?{name}={uuid4()}").json()["data"] == []
        assert caller.get(f"/attachments?{name}=[]").json()["code"] == "invalid_parameter"


def test_what_is_no_list_reads_its_parameters_as_strictly(world, caller):
    """The search in the knowledge, and the span of an endpoint's statistics."""
    search, statistics = "/knowledge-passages", f"/webhooks/{world.ids['webhooks']}/statistics"
    assert len(caller.get(f"{search}?query=Saturday&limit=1").json()["data"]) == 1
    day = caller.get(f"{statistics}?until=2020-01-02T00:00:00Z").json()
    assert (day["since"], day["until"]) == ("2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z")
    for query, name in [
        (search, "query"), (f"{search}?query={'x' * 2001}", "query"), (f"{search}?query=x&limit=21", "limit"),
        (f"{search}?query=x&limit=ten", "limit"), (f"{statistics}?since=yesterday", "since"),
        (f"{statistics}?until=0001-01-01T00:00:00Z", "until"), (f"{statistics}?since=2999-01-01T00:00:00Z", "since"),
        (f"{statistics}?since=2019-01-01T00:00:00Z&until=2020-01-01T00:00:00Z", "since"),
    ]:  # fmt: skip
        problem = caller.get(query)
        assert (problem.status_code, problem.json()["errors"][0]["parameter"]) == (400, name), query
    for query in (f"{search}?query=x&cursor=x", f"{search}?query=x&sort=title", f"{statistics}?limit=1"):
        assert caller.get(query).json()["code"] == "unknown_parameter", query


def test_a_filter_with_anothers_id_finds_nothing(world):
    theirs = Caller(furnish("globex").id)
    for path, name in [("/agent-runs", "email_id"), ("/emails", "inbox_id"), ("/threads", "inbox_id"),
                       ("/webhook-deliveries", "webhook_id"), ("/webhook-deliveries", "system_event_id"),
                       ("/approvals", "agent_run_id"), ("/inboxes", "agent_id"), ("/agent-runs", "agent_id")]:  # fmt: skip
        plural = {"email": "emails", "inbox": "inboxes", "webhook": "webhooks", "system_event": "system-events",
                  "agent_run": "agent-runs", "agent": "agents"}[name.removesuffix("_id")]  # fmt: skip
        answer = theirs.get(f"{path}?{name}={world.ids[plural]}")
        assert (answer.status_code, answer.json()["data"]) == (200, []), (path, name)


def test_lists_are_sorted_as_asked(world, caller):
    for number in range(5):
        subscribing.create(workspace_id=world.id, url="https://example.com/", slugs=["*"], label=f"{'DBACE'[number]}")
    labels = [row["label"] for row in caller.get("/webhooks?sort=label").json()["data"]]
    assert labels == sorted(labels)
    assert labels[:3] == ["A", "B", "C"]
    assert [row["label"] for row in caller.get("/webhooks?sort=-label").json()["data"]] == labels[::-1]
    for path in LISTS:
        for name in ("id", "workspace_id", "-secret_sealed", "created_at,id", "inbox__name", "?"):
            problem = caller.get(f"{path}?sort={name}")
            # A chain has one order.
            known = "sequence" if path.startswith("/audit-") else "created_at"
            assert (problem.status_code, known in problem.json()["allowed"]) == (400, True), (path, name)


def test_pages_do_not_move_when_rows_come_in_between(world, caller):
    """Rows that are made while somebody pages appear before the first page, never within the later ones."""
    for _ in range(6):
        subscribing.create(workspace_id=world.id, url="https://example.com/", slugs=["*"])
    before = [row["id"] for row in caller.get("/webhooks?limit=100").json()["data"]]
    seen, query = [], "limit=2"
    while True:
        page = caller.get(f"/webhooks?{query}").json()
        seen += [row["id"] for row in page["data"]]
        subscribing.create(workspace_id=world.id, url="https://example.com/late", slugs=["*"])
        if page["next"] is None:
            break
        query = f"limit=2&cursor={page['next']}"
    assert seen == before
    assert page["previous"]


def test_a_cursor_is_no_use_elsewhere(world, caller):
    for _ in range(3):
        subscribing.create(workspace_id=world.id, url="https://example.com/", slugs=["*"])
    cursor = caller.get("/webhooks?limit=1").json()["next"]
    assert caller.get(f"/webhooks?limit=2&cursor={cursor}").status_code == 200
    theirs = Caller(office("globex").id)
    for ask, path in [
        (theirs, f"/webhooks?cursor={cursor}"), (caller, f"/agents?cursor={cursor}"),
        (caller, f"/webhooks?state=active&cursor={cursor}"), (caller, f"/webhooks?sort=label&cursor={cursor}"),
        (caller, f"/webhooks?cursor={cursor[:-2]}"), (caller, f"/webhooks?cursor={'A' * 20_000}"),
        (caller, "/webhooks?cursor=%F0%9F%92%A9"), (caller, f"/webhooks?cursor={cursor}%0A"),
    ]:  # fmt: skip
        problem = ask.get(path)
        assert (problem.status_code, problem.json()["code"]) == (400, "bad_cursor"), path


EXPANSIONS = [
    ("/agent-runs", "agent", "agent.read"), ("/agent-runs", "email", "email.read"),
    ("/approvals", "agent_run", "agent.read"), ("/approvals", "email", "email.read"),
    ("/emails", "inbox", "inbox.read"), ("/emails", "thread", "thread.read"), ("/emails", "latest_run", "agent.read"),
    ("/inboxes", "agent", "agent.read"), ("/threads", "inbox", "inbox.read"),
    ("/webhook-deliveries", "webhook", "webhook.read"), ("/webhook-deliveries", "system_event", "event.read"),
]  # fmt: skip
READS = {"/agent-runs": "agent.read", "/approvals": "approval.read", "/emails": "email.read", "/inboxes": "inbox.read",
         "/threads": "thread.read", "/webhook-deliveries": "webhook.read"}  # fmt: skip


def test_what_is_referred_to_is_put_beside_its_id(world, caller):
    for path, word, permission in EXPANSIONS:
        (row, *_) = [row for row in caller.get(f"{path}?expand={word}").json()["data"] if row[word]]
        assert row[word]["object"] == ("agent_run" if word == "latest_run" else word)
        if word != "latest_run":
            assert row[word]["id"] == row[f"{word}_id"]
            shown = caller.get(f"/{_plural(word)}/{row[word]['id']}").json()
            assert row[word] == {name: shown[name] for name in row[word]}
        one = caller.get(f"{path}/{row['id']}?expand={word}").json()
        assert one[word] == row[word]
        assert word not in caller.get(f"{path}/{row['id']}").json()
        # Nobody sees by expansion what they may not see by itself.
        needs = READS[path]
        if needs != permission:
            assert Caller(world.id, needs).get(f"{path}?expand={word}").json()["permission"] == permission
            assert Caller(world.id, needs).get(f"{path}/{row['id']}?expand={word}").status_code == 403
        assert Caller(world.id, needs, permission).get(f"{path}?expand={word}").status_code == 200
    reply = caller.get(f"/replies/{world.ids['replies']}?expand=agent_run,email").json()
    assert (reply["agent_run"]["id"], reply["email"]["id"]) == (reply["agent_run_id"], reply["email_id"])
    both = caller.get("/agent-runs?expand=agent,email").json()["data"][0]
    assert both["agent"]
    assert both["email"]
    for word in ("contact", "agent,", ",", "agent;email", "*", "agent.versions", "Agent"):
        problem = caller.get(f"/agent-runs?expand={word}")
        assert (problem.status_code, problem.json()["allowed"]) == (400, ["agent", "email"]), word
    assert caller.get("/system-events?expand=webhook").json()["code"] == "unknown_parameter"


def _plural(word: str) -> str:
    return {"inbox": "inboxes"}.get(word, word.replace("_", "-") + "s")


def test_what_is_deleted_or_absent_is_null(world, caller):
    assert caller("DELETE", f"/webhooks/{world.ids['webhooks']}").status_code == 204
    rows = caller.get("/webhook-deliveries?expand=webhook").json()["data"]
    assert {row["webhook"] for row in rows} == {None}
    assert all(row["webhook_id"] for row in rows)


def test_an_expansion_costs_one_question_however_many_rows(world, caller):
    """The same number of statements for many rows as for few, and at most two more than without."""
    plain: dict[str, int] = {}
    counts: dict[tuple[str, str], list[int]] = {}
    for extra in (0, 12):
        play()
        receive_many(world.office, extra)
        work()
        for path, word, _ in EXPANSIONS:
            with CaptureQueriesContext(connection) as bare:
                caller.get(f"{path}?limit=100")
            plain[path] = len(bare)
            with CaptureQueriesContext(connection) as found:
                assert len(caller.get(f"{path}?limit=100&expand={word}").json()["data"]) >= min(extra, 1)
            counts.setdefault((path, word), []).append(len(found))
    assert {key: few for key, (few, many) in counts.items() if few != many} == {}
    assert {key: n for key, (n, _) in counts.items() if n > plain[key[0]] + 2} == {}


def test_limits_of_pages(world, caller):
    for limit in ("1", "100"):
        assert caller.get(f"/emails?limit={limit}").status_code == 200
    for limit in ("0", "101", "-1", "1.0", "ten", "1e1", "%31%30%30%30"):
        problem = caller.get(f"/emails?limit={limit}")
        assert (problem.status_code, problem.json()["code"]) == (400, "bad_cursor"), limit


def test_ids_that_are_none_lead_nowhere(world, caller):
    for path in ("/agents", "/emails", "/webhooks", "/threads", "/attachments", "/agent-runs"):
        for pk in ("-" * 36, "x", "0" * 36, "%00", "..%2f", "1", str(uuid4())[:-1], str(uuid4()) + "0", "%F0%9F%92%A9"):
            answer = caller.get(f"{path}/{pk}")
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json"), (path, pk)
        assert caller.get(f"{path}/{world.ids[path[1:]].upper()}").status_code == 200

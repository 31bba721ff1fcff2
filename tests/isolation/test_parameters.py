"""G2: another workspace's ids, and its name, in every place where a request can carry one. They are refused or ignored."""

import base64
import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import orjson
import pytest

from config.proving.routes import lists
from tests.resources.nine import Caller, World, rows
from tests.tenancy import tokens

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
REQUEST = "the-same-request"

# Every filter by id that a list knows, and what a list might be thought to know.
FILTERS = [
    ("/inboxes", "agent_id"), ("/inboxes", "external_id"), ("/emails", "inbox_id"), ("/threads", "inbox_id"),
    ("/attachments", "email_id"), ("/attachments", "entry_id"), ("/agent-runs", "agent_id"), ("/agent-runs", "email_id"),
    ("/webhook-deliveries", "webhook_id"), ("/webhook-deliveries", "system_event_id"), ("/circuit-breakers", "inbox_id"),
    ("/thread-changes", "source_thread_id"), ("/thread-changes", "target_thread_id"),
]  # fmt: skip
WIDENING = [
    "workspace_id",
    "workspace",
    "tenant",
    "tenant_id",
    "account",
    "ref",
    "owner",
    "sub",
    "all",
    "scope",
    "as",
    "id",
    "pk",
]
SHAPING = [
    "expand=inbox,agent,email,workspace", "include=workspace", "fields=id,workspace_id", "sort=workspace_id", "order_by=-workspace_id",
    "search=globex", "q=globex", "export=csv", "format=api", "deleted=yes", "with_deleted=1", "limit=100",
]  # fmt: skip
HEADERS = [
    "X-Workspace-Id", "X-Workspace", "Workspace", "X-Tenant-Id", "X-Account-Id", "X-Forwarded-User", "X-Remote-User", "X-Original-Url",
    "X-Rewrite-Url", "X-HTTP-Method-Override", "X-Forwarded-Host", "X-User-Id",
]  # fmt: skip


def foreign(place: World) -> dict[str, str]:
    return {name: str(value) for name, value in {**place.ids, **place.more}.items()}


def leaks(answer: Any, place: World) -> set[str]:
    """Ids of another workspace in an answer."""
    return set(UUID.findall(answer.content.decode())) & set(foreign(place).values())


def test_every_filter_finds_as_little_as_with_an_unknown_id(ours: World, theirs: World, cases):
    tried = 0
    for path, name in FILTERS:
        nothing = ours.call("GET", f"{path}?{name}={uuid4()}", x_request_id=REQUEST)
        assert (nothing.status_code, nothing.json()["data"]) == (200, []), (path, name, nothing.content)
        for value in (*foreign(theirs).values(), str(theirs.house.inbox.external_id)):
            answer = ours.call("GET", f"{path}?{name}={value}", x_request_id=REQUEST)
            assert answer.content == nothing.content, (path, name, value)
            tried += 1
    cases("G2", tried)


def test_no_parameter_widens_what_a_list_shows(ours: World, theirs: World, cases):
    tried = 0
    queries = [f"{name}={theirs.id}" for name in WIDENING] + SHAPING
    for turn, path in enumerate(lists()):
        usual = ours.call("GET", path, x_request_id=REQUEST)
        assert usual.status_code == 200
        assert not leaks(usual, theirs)
        for query in queries[turn % 2 :: 2]:
            answer = ours.call("GET", f"{path}?{query}", x_request_id=REQUEST)
            assert answer.status_code in (200, 400, 422), (path, query)
            assert not leaks(answer, theirs) - {str(theirs.id)}, (path, query)
            if answer.status_code == 200:
                assert len(answer.json()["data"]) <= len(usual.json()["data"]), (path, query)
            tried += 1
    cases("G2", tried)


def test_no_header_and_no_cookie_names_another_workspace(ours: World, theirs: World, cases):
    tried = 0
    for turn, path in enumerate(("/workspace", *lists())):
        usual = ours.call("GET", path, x_request_id=REQUEST).content
        for name in HEADERS[turn % 3 :: 3]:
            value = f"/api/v1/emails/{theirs.ids['email']}" if "Url" in name else str(theirs.id)
            answer = ours.call("GET", path, **{"x_request_id": REQUEST, name: value})
            assert answer.content == usual, (path, name)
            tried += 1
        for cookie in ("workspace", "workspace_id", "sessionid"):
            ours.call._client.cookies[cookie] = str(theirs.id)
        assert ours.call("GET", path, x_request_id=REQUEST).content == usual
        ours.call._client.cookies.clear()
        tried += 3
    cases("G2", tried)


def test_cursors_of_another_workspace_lead_nowhere(ours: World, theirs: World, cases):
    """The cursors of lists in other lists, by turns; and made ones that point at another workspace's rows."""
    cursors = []
    for path in lists():
        for _ in range(2):
            page = theirs.call("GET", f"{path}?limit=1").json()
            cursors += [cursor for cursor in (page["next"], page["previous"]) if cursor]
    for value in foreign(theirs).values():
        for mark in ("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", 0, 10**15):
            made = orjson.dumps([0, mark, value])
            cursors.append(base64.urlsafe_b64encode(made).rstrip(b"=").decode())
    tried = 0
    distinct = list(dict.fromkeys(cursors))
    for turn, path in enumerate(lists()):
        for cursor in distinct[turn % 5 :: 5]:
            answer = ours.call("GET", f"{path}?cursor={quote(cursor)}")
            assert answer.status_code in (200, 400), (path, cursor, answer.content)
            assert not leaks(answer, theirs), (path, cursor)
            tried += 1
    cases("G2", tried)


def test_no_body_takes_an_id_of_another_workspace(ours: World, theirs: World, cases):
    before = rows(theirs.id, but=_plumbing)
    tried, thread = 0, f"/threads/{ours.more['thread']}"
    for turn, (name, value) in enumerate(foreign(theirs).items()):
        tries = (
            ("PATCH", ours.path("inbox"), {"agent_id": value}),
            ("POST", "/inboxes", {"address": f"{name.replace('_', '-')}@acme.test", "agent_id": value}),
            ("POST", f"{ours.path('webhook')}/replay", {"delivery_id": value}),
            ("PATCH", thread, {"assignee_id": value}),
            ("POST", f"{thread}/notes", {"text": "x", "entry_id": value}),
            ("POST", f"{thread}/merge", {"into": value}),
            ("POST", f"{thread}/split", {"from_entry": value}),
        )
        for method, path, body in tries:
            key = next(key for key in body if key.endswith(("_id", "into", "from_entry")))
            answer = ours.call(method, path, body, x_request_id=REQUEST)
            absent = ours.call(method, path, body | {key: str(uuid4())}, x_request_id=REQUEST)
            assert answer.status_code in (404, 422), (path, name, answer.content)
            assert answer.content == absent.content, (path, name)
            tried += 1
        for path, key, body in (
            (f"{thread}/tags", "tag_ids", {}),
            (f"{thread}/notes", "mentions", {"text": "x"}),
            (f"{thread}/split", "entry_ids", {}),
            (f"{thread}/move", "entry_ids", {"into": str(ours.more["other_thread"])}),
        ):
            answer = ours.call("POST", path, body | {key: [value]}, x_request_id=REQUEST)
            absent = ours.call("POST", path, body | {key: [str(uuid4())]}, x_request_id=REQUEST)
            assert answer.status_code in (404, 422), (path, name, answer.content)
            assert answer.content == absent.content, (path, name)
            tried += 1
        for key in ("tag_id", "inbox_id"):
            answer, absent = (
                ours.call("POST", "/views", {"name": "x", "filter": {key: one}}, x_request_id=REQUEST)
                for one in (value, str(uuid4()))
            )
            assert (answer.status_code, answer.content) == (422, absent.content), (key, name)
            tried += 1
        for path, body in {
            "/inboxes": {"address": "x@acme.test"},
            "/agents": {"name": "x"},
            "/webhooks": {"url": "https://example.com/", "slugs": ["*"]},
            "/emails": {"from": {"address": "a@b.test"}, "to": [{"address": "support@acme.test"}]},
        }.items():
            for key in ("workspace_id", "workspace", "id", "parent_id", "inbox_id", "email_id")[turn % 3 :: 3]:
                answer = ours.call("POST", path, body | {key: value})
                assert answer.status_code == 422, (path, key)
                assert f"/{key}" in [fault["pointer"] for fault in answer.json()["errors"]]
                tried += 1
    assert rows(theirs.id, but=_plumbing) == before
    cases("G2", tried)


def test_addresses_and_domains_of_another_workspace_are_not_ours(ours: World, theirs: World, cases):
    before = rows(theirs.id, but=_plumbing)
    their_address = theirs.house.inbox.address
    for address in (
        their_address,
        their_address.upper(),
        f"new@{their_address.partition('@')[2]}",
        "support+x@globex.test.",
    ):
        answer = ours.call("POST", "/inboxes", {"address": address})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/address"), address
        mail = {"from": {"address": "a@b.test"}, "to": [{"address": their_address}], "text": "x"}
        assert ours.call("POST", "/emails", mail).status_code == 422
    # One of each: only ours gets it.
    answer = ours.call("POST", "/emails", mail | {"cc": [{"address": "support@acme.test"}]})
    assert answer.status_code == 202
    assert not leaks(answer, theirs)
    assert rows(theirs.id, but=_plumbing) == before
    taken = ours.call("POST", "/agents", {"name": "x", "external_id": str(_external_id(theirs))})
    assert (taken.status_code, "globex" in taken.content.decode().lower()) == (409, False)
    cases("G2", 10)


def _external_id(place: World) -> str:
    return place.call("GET", place.path("agent")).json()["external_id"]


@pytest.mark.parametrize("claim", ["workspace_id", "workspace", "tenant", "wid", "act", "azp", "org_id"])
def test_a_token_means_the_workspace_of_its_subject_whatever_else_it_says(
    ours: World, theirs: World, settings, claim, cases
):
    settings.JWT_KEYS = tokens.jwks()
    content = tokens.claims(ours.house.workspace, scope="*") | {claim: str(theirs.id)}
    call = Caller(ours.id)
    call._client = type(call._client)(headers={"authorization": f"Bearer {tokens.sign(content)}"})
    assert call("GET", "/workspace").json()["id"] == str(ours.id)
    for path in lists():
        assert not leaks(call("GET", path), theirs), path
    assert call("GET", f"/emails/{theirs.ids['email']}").status_code == 404
    cases("G2", len(lists()) + 2)


def test_no_path_names_a_workspace(ours: World, theirs: World, cases):
    for path in (
        f"/workspace/{theirs.id}",
        f"/workspaces/{theirs.id}",
        f"/workspaces/{theirs.id}/emails",
        f"/{theirs.id}/emails",
    ):
        assert ours.call("GET", path).status_code == 404
    cases("G2", 4)


def _plumbing(table: str) -> bool:
    return table == "tenancy_machinekey"

"""G1: every route × method × every id of another workspace. It is answered as if nobody had that id, byte for byte."""

import itertools
from typing import Any
from uuid import uuid4

import pytest

from config.proving.routes import routes, with_id
from inbox.models import Entry, InboundMessage
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import MachineKey, Workspace
from tenancy.services import keys
from tests.resources.nine import Caller, World, rows, world

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# Bodies that are valid, so that the id is what matters.
BODIES = {
    "/webhooks/{id}/replay": {"since": "2020-01-01T00:00:00Z"},
    "/approvals/{id}/approve": {"comment": "yes"},
    "/inboxes/{id}/connection": {"connection_id": None},
    "/connections/{id}/credentials": {"secret": "not-a-real-one"},
    "/audit-events/{id}/redact": {"reason": "why not"},
    "/threads/{id}/merge": {"into": "11111111-1111-4111-8111-111111111111"},
    "/threads/{id}/split": {"from_entry": "11111111-1111-4111-8111-111111111111"},
    "/threads/{id}/move": {
        "into": "11111111-1111-4111-8111-111111111111",
        "entry_ids": ["11111111-1111-4111-8111-111111111111"],
    },
}
REQUEST = "the-same-request"


def test_the_walk_sees_the_routes():
    found = routes()
    assert {
        "/emails/{id}",
        "/emails/{id}/raw",
        "/attachments/{id}/content",
        "/webhooks/{id}/replay",
        "/workspace",
    } <= set(found)
    assert not [path for path in found if "(" in path or "<" in path]


def ids_of(place: World) -> dict[str, Any]:
    with in_workspace(place.id):
        return {
            **place.ids,
            **place.more,
            "entry": Entry.objects.first().id,
            "inbound": InboundMessage.objects.first().id,
            "external": place.house.inbox.external_id,
            "key": MachineKey.objects.first().id,
        }


def ask(call: Caller, method: str, route: str, value: Any) -> tuple[int, bytes]:
    body = None if method in ("GET", "HEAD") else BODIES.get(route, {})
    answer = call(method, route.format(id=value), body, x_request_id=REQUEST)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer.status_code, content


@pytest.mark.long
def test_every_foreign_id_is_as_good_as_none(ours: World, theirs: World, cases):
    """Those of a route's own kind of rows by every method; of the others a fifth by turns. The proof asks with all of them."""
    foreign, turns = ids_of(theirs), itertools.count()
    before = {ours.id: rows(ours.id, but=_own_trail), theirs.id: rows(theirs.id, but=_plumbing)}
    tried = 0
    for route in with_id():
        for method in METHODS:
            absent = ask(ours.call, method, route, uuid4())
            assert absent[0] in (404, 405, 422), (method, route, absent)
            assert absent[0] != 422 or method in ("POST", "PATCH"), (method, route, absent)
            turn = next(turns)
            asked = [pair for at, pair in enumerate(foreign.items()) if (at + turn) % 5 == 0 or pair[0] in route]
            for name, value in asked:
                assert ask(ours.call, method, route, value) == absent, (method, route, name)
                tried += 1
    assert {ours.id: rows(ours.id, but=_own_trail), theirs.id: rows(theirs.id, but=_plumbing)} == before
    assert tried >= 1500
    cases("G1", tried)


def test_the_owner_of_an_id_finds_it(ours: World):
    """The counterpart: the same questions with ids of one's own."""
    own = {f"{resource.path}/{{id}}": ours.ids[name] for name, resource in _nine().items() if resource.has_list}
    for route, value in own.items():
        assert ask(ours.call, "GET", route, value)[0] == 200, route


def _nine() -> Any:
    from tests.resources.nine import NINE

    return NINE


def test_whoever_is_shut_out_learns_nothing_of_any_id(ours: World, theirs: World, cases):
    """A revoked key, a suspended workspace, a wrong key, nobody: the same refusal for own, foreign and unknown ids."""
    revoked = Caller(ours.id)
    with in_workspace(ours.id):
        key = MachineKey.objects.order_by("-created_at").first()
    keys.revoke(workspace_id=ours.id, key_id=key.id)
    suspended = world("initech")
    with in_all_workspaces("an operator suspends a workspace"):
        Workspace.objects.filter(id=suspended.id).update(status="suspended")
    wrong = Caller(ours.id)
    wrong._client.defaults["HTTP_AUTHORIZATION"] = "Bearer mk_wrong_wrong"
    wrong._client.headers = {} if hasattr(wrong._client, "headers") else None
    nobody = Caller(ours.id)
    nobody._client.defaults.pop("HTTP_AUTHORIZATION", None)
    tried = 0
    methods = itertools.cycle(("GET", "POST", "PATCH", "DELETE", "PUT"))
    for call in (revoked, suspended.call, wrong, nobody):
        for route in with_id():
            for method in itertools.islice(methods, 2):
                answers = {
                    ask(call, method, route, value) for value in (ours.ids["email"], theirs.ids["email"], uuid4())
                }
                assert len(answers) == 1, (method, route, answers)
                assert answers.pop()[0] in (401, 405), (method, route)
                tried += 3
    cases("G1", tried)


def _own_trail(table: str) -> bool:
    """What was refused is in the trail of the workspace that asked; in that of the other there is nothing."""
    return _plumbing(table) or table.startswith("audit_")


def _plumbing(table: str) -> bool:
    return table == "tenancy_machinekey"

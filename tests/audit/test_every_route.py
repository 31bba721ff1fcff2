"""Every route that changes something (J4): done, denied and failed leave one record each, and a key makes a POST happen once (F).

The routes come from the resolver: a new one fails here until it has a line in `DONE`.
"""

import itertools
from typing import Any
from uuid import uuid4

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from audit import queries
from audit.models import AuditEvent, AuditPayload
from config.proving.routes import _found
from inbox.models import Entry
from kernel.api.views import WorkspaceViewSet
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.api.views import ProvisioningView
from tests.agents.factories import ANSWER, QUESTION, bind, play, receive, work
from tests.api.conftest import Caller, World, second
from tests.tenancy.certificates import certificate, pem

# One worker makes the description of the API once for all of them.
pytestmark = pytest.mark.xdist_group("description")

CHANGING = ("post", "put", "patch", "delete")
CANARY = "canary-4f7a1c"
# Routes outside of the API that take a POST, each with how it happens once.
OTHER_POSTS = {
    "ingress/ses": "a callback is deduplicated by its provider's id (ProviderEvent)",
    "api/v1/provisioning/workspaces": "the same mechanism, and idempotent on external_id besides",
}


def changing_routes() -> list[tuple[str, str]]:
    return sorted(
        (method.upper(), path) for path, actions in _found() for method in CHANGING if method in actions
    )  # fmt: skip


def done(world: World, extra: dict[str, Any]) -> dict[tuple[str, str], tuple[str, Any]]:
    """For each route a request that is done: what `{id}` is, and the body. Those that end something come last."""
    ids, hook = world.ids, {"url": "https://example.com/h", "slugs": ["email.*"], "label": CANARY}
    smtp = {"host": "mail.example.com", "user": "u"}
    return {
        ("PATCH", "/workspace"): ("", {"name": "Acme Two"}),
        ("POST", "/agents"): ("", {"name": "Second", "system_prompt": f"Be kind. {CANARY}"}),
        ("PATCH", "/agents/{id}"): (ids["agents"], {"name": "Renamed"}),
        ("POST", "/knowledge-sources"): ("", {"title": "More", "content": f"# A\n\n{CANARY}"}),
        ("PATCH", "/knowledge-sources/{id}"): (ids["knowledge-sources"], {"title": "Less"}),
        ("POST", "/inboxes"): ("", {"address": "sales@acme.test"}),
        ("PATCH", "/inboxes/{id}"): (ids["inboxes"], {"name": "Support"}),
        ("PUT", "/inboxes/{id}/connection"): (ids["inboxes"], {"connection_id": None}),
        ("POST", "/emails"): ("", {"from": {"address": "a@b.test"}, "to": [{"address": "support@acme.test"}], "text": CANARY}),
        ("PATCH", "/emails/{id}"): (ids["emails"], {"custom_metadata": {"order": 7}}),
        ("POST", "/emails/{id}/reparse"): (ids["emails"], {}),
        ("PATCH", "/threads/{id}"): (ids["threads"], {"status": "closed"}),
        ("POST", "/threads/{id}/tags"): (ids["threads"], {"tag_ids": []}),
        ("POST", "/threads/{id}/notes"): (ids["threads"], {"text": CANARY}),
        ("POST", "/threads/{id}/split"): (extra["threads"][0], {"from_entry": extra["entries"][0]}),
        ("POST", "/threads/{id}/move"): (
            extra["threads"][1], {"into": extra["threads"][0], "entry_ids": [extra["entries"][1]]},
        ),
        ("POST", "/threads/{id}/merge"): (extra["threads"][1], {"into": ids["threads"]}),
        ("POST", "/thread-changes/{id}/undo"): (ids["thread-changes"], {}),
        ("POST", "/circuit-breakers/{id}/close"): (ids["circuit-breakers"], {}),
        ("POST", "/tags"): ("", {"name": "Warranty"}),
        ("PATCH", "/tags/{id}"): (ids["tags"], {"color": "red"}),
        ("POST", "/views"): ("", {"name": "Open", "filter": {"status": "open"}}),
        ("PATCH", "/views/{id}"): (ids["views"], {"sort": "waiting"}),
        ("POST", "/canned-answers"): ("", {"name": "Returns", "text": CANARY}),
        ("PATCH", "/canned-answers/{id}"): (ids["canned-answers"], {"text": f"{CANARY} two"}),
        ("POST", "/replies"): ("", {"email_id": extra["first"], "text": ANSWER}),
        ("POST", "/replies/draft"): ("", {"email_id": extra["second"], "text": ANSWER}),
        ("POST", "/approvals/{id}/approve"): (extra["approvals"][0], {"comment": "yes"}),
        ("POST", "/approvals/{id}/reject"): (extra["approvals"][1], {"comment": "no"}),
        ("PATCH", "/workspace-settings"): ("", {"stop_spares_webhooks": True}),
        ("POST", "/emergency-stop"): ("", {"reason": "It promises refunds."}),
        ("DELETE", "/emergency-stop"): ("", None),
        ("POST", "/roles"): ("", {"name": "Night", "permissions": ["email.read"]}),
        ("PATCH", "/roles/{id}"): (ids["roles"], {"description": CANARY}),
        ("POST", "/roles/{id}/take"): (ids["roles"], {"membership_id": ids["members"]}),
        ("POST", "/roles/{id}/give"): (ids["roles"], {"membership_id": ids["members"]}),
        ("POST", "/teams"): ("", {"name": "Back"}),
        ("PATCH", "/teams/{id}"): (ids["teams"], {"name": "Fore"}),
        ("PATCH", "/members/{id}"): (ids["members"], {"roles": [ids["roles"]]}),
        ("POST", "/members/{id}/suspend"): (ids["members"], {}),
        ("POST", "/members/{id}/reactivate"): (ids["members"], {}),
        ("POST", "/invitations"): ("", {"email": "new@people.test", "roles": [ids["roles"]]}),
        ("POST", "/invitations/{id}/resend"): (ids["invitations"], {}),
        ("POST", "/invitations/{id}/revoke"): (ids["invitations"], {}),
        ("POST", "/connections"): ("", {"provider": "smtp", "configuration": smtp, "secret": CANARY}),
        ("PATCH", "/connections/{id}"): (extra["connection"], {"name": "Mail"}),
        ("POST", "/connections/{id}/credentials"): (extra["connection"], {"secret": CANARY}),
        ("POST", "/connections/{id}/test"): (extra["connection"], {}),
        ("POST", "/connections/{id}/disconnect"): (extra["connection"], {}),
        ("POST", "/webhooks"): ("", hook),
        ("PATCH", "/webhooks/{id}"): (ids["webhooks"], {"label": "New"}),
        ("POST", "/webhooks/{id}/test"): (ids["webhooks"], {}),
        ("POST", "/webhooks/{id}/replay"): (ids["webhooks"], {"since": "2020-01-01T00:00:00Z"}),
        ("POST", "/webhooks/{id}/rotate-secret"): (ids["webhooks"], {}),
        ("POST", "/webhooks/{id}/disable"): (ids["webhooks"], {}),
        ("POST", "/webhooks/{id}/enable"): (ids["webhooks"], {}),
        ("POST", "/machine-keys"): ("", {"name": "Third", "scopes": ["thread.read"]}),
        ("PATCH", "/machine-keys/{id}"): (ids["machine-keys"], {"name": "Shop two"}),
        ("POST", "/machine-keys/{id}/rotate"): (ids["machine-keys"], {}),
        ("POST", "/machine-keys/{id}/revoke"): (ids["machine-keys"], {}),
        ("POST", "/client-certificates"): ("", {"name": "x", "certificate": pem(certificate()), "scopes": ["thread.read"]}),
        ("PATCH", "/client-certificates/{id}"): (ids["client-certificates"], {"name": "y"}),
        ("POST", "/client-certificates/{id}/revoke"): (ids["client-certificates"], {}),
        ("POST", "/revoked-client-certificates"): ("", {"serial": "1f", "issuer": "CN=Acme CA"}),
        ("POST", "/revoked-tokens"): ("", {"jti": "another-token"}),
        ("POST", "/revoked-tokens/issued-before"): ("", {"issued_before": "2020-01-01T00:00:00Z"}),
        ("POST", "/audit-events/{id}/redact"): (extra["event"], {"reason": "erasure"}),
        ("DELETE", "/tags/{id}"): (ids["tags"], None),
        ("DELETE", "/views/{id}"): (ids["views"], None),
        ("DELETE", "/canned-answers/{id}"): (ids["canned-answers"], None),
        ("DELETE", "/teams/{id}"): (ids["teams"], None),
        ("DELETE", "/members/{id}"): (ids["members"], None),
        ("DELETE", "/roles/{id}"): (ids["roles"], None),
        ("DELETE", "/knowledge-sources/{id}"): (ids["knowledge-sources"], None),
        ("DELETE", "/webhooks/{id}"): (ids["webhooks"], None),
        ("DELETE", "/agents/{id}"): (ids["agents"], None),
    }  # fmt: skip


# Fields that a body can fail on without being malformed for every route.
WRONG = {"no_such_field": CANARY}


@pytest.fixture
def extra(world: World, caller: Caller) -> dict[str, Any]:
    """What some routes need: two open mails without an agent, two conversations of two entries, two approvals, a
    connection, an event with details."""
    place = world.office
    play()
    receive(place, QUESTION, sender="Bea <bea@customer.test>")
    work()
    bind(place.house, None)
    waiting = [str(receive(place, sender=f"{name} <{name}@customer.test>").id) for name in ("cy", "dee")]
    bind(place.house, place.agent)
    talks = [second(world) for _ in range(2)]
    made = caller(
        "POST", "/connections", {"provider": "smtp", "configuration": {"host": "a.test", "user": "u"}, "secret": "x"}
    ).json()
    with in_workspace(world.id):
        # As an earlier reader understood it, so that the present one finds something.
        Entry.objects.filter(email_id=world.ids["emails"]).update(subject="Another")
        event = AuditEvent.objects.filter(action="inbox.open").latest("sequence")
    return {
        "first": waiting[0],
        "second": waiting[1],
        "threads": [str(thread) for thread, _ in talks],
        "entries": [str(entry) for _, entry in talks],
        "approvals": [row["id"] for row in caller.get("/approvals?state=pending").json()["data"]],
        "connection": made["id"],
        "event": str(event.id),
    }


def ask(call: Caller, method: str, route: str, target: str, body: Any, request: str, **headers: str) -> Any:
    return call(method, route.replace("{id}", target), body, X_Request_Id=request, **headers)


def events_of(request: str) -> list[AuditEvent]:
    with in_all_workspaces("a test looks at every trail"):
        return list(AuditEvent.objects.filter(request_id=request).order_by("sequence"))


def test_the_table_has_every_route(world: World, extra: dict[str, Any]):
    assert sorted(done(world, extra)) == changing_routes()


def test_done_denied_and_failed_leave_their_record(world: World, caller: Caller, extra: dict[str, Any], cases):
    """One event about the thing itself for what was done; exactly one for what was denied or failed."""
    powerless = Caller(world.id, "event.read", name="Powerless")
    tried, faults = 0, []
    for (method, route), (target, body) in done(world, extra).items():
        name = f"{method} {route}"
        denied = ask(powerless, method, route, target, body, f"denied-{tried:04}")
        assert denied.status_code == 403, (name, denied.content)
        (event,) = events_of(f"denied-{tried:04}")
        assert (event.outcome, event.actor_kind, event.actor_id) == ("denied", "machine_key", str(powerless.key_id)), (
            name
        )
        if body:  # what takes no body does not fail on one
            failed = ask(caller, method, route, target, WRONG, f"failed-{tried:04}")
            if failed.status_code >= 400:
                (event,) = events_of(f"failed-{tried:04}")
                assert (event.outcome, event.actor_id) == ("failed", str(caller.key_id)), name
        if "{id}" in route:
            unknown = ask(caller, method, route, str(uuid4()), body, f"nobody-{tried:04}")
            assert unknown.status_code == 404, (name, unknown.content)
            (event,) = events_of(f"nobody-{tried:04}")
            assert (event.outcome, event.after_hash) == ("failed", None), name
        answer = ask(caller, method, route, target, body, f"done-{tried:04}")
        assert answer.status_code < 300, (name, answer.content)
        found = events_of(f"done-{tried:04}")
        own = [event for event in found if event.actor_kind == "machine_key"]
        faults += [] if own and all(event.outcome == "done" for event in found) else [(name, [str(e) for e in found])]
        assert {event.actor_id for event in own} == {str(caller.key_id)}, name
        tried += 1
    assert faults == []
    assert tried == len(changing_routes())
    with in_workspace(world.id):
        texts = [str(row) for model in (AuditEvent, AuditPayload) for row in model.objects.values()]
    assert not [text for text in texts if CANARY in text or ANSWER in text or QUESTION in text]
    assert queries.verify(world.id).holds
    cases("J4", 3 * tried)


def test_what_is_done_says_from_which_state_to_which(world: World, caller: Caller):
    """The hash after one change is the hash before the next, and another one after it."""
    path = f"/webhooks/{world.ids['webhooks']}"
    for label in ("one", "two", "three"):
        caller("PATCH", path, {"label": label})
    caller("DELETE", path)
    with in_workspace(world.id):
        rows = AuditEvent.objects.filter(resource_kind="webhook", resource_id=world.ids["webhooks"]).order_by(
            "sequence"
        )
        # Setting up acted as the system, which is not followed.
        chain = [(row.before_hash, row.after_hash) for row in rows if row.actor_kind == "machine_key"]
    assert len(chain) == 4
    assert all(bytes(before[1]) == bytes(after[0]) for before, after in itertools.pairwise(chain))
    assert len({bytes(after) for _, after in chain}) == 4


def test_a_key_makes_every_post_happen_once(world: World, caller: Caller, extra: dict[str, Any], cases):
    """F1 over the URL conf: the second answer is the first one's, and nothing happens twice."""
    tried = 0
    for (method, route), (target, body) in done(world, extra).items():
        if method != "POST":
            continue
        key = f"key-{tried}"
        first = ask(caller, method, route, target, body, f"first-{tried:04}", Idempotency_Key=key)
        assert first.status_code < 300, (route, first.content)
        again = ask(caller, method, route, target, body, f"again-{tried:04}", Idempotency_Key=key)
        assert (again.status_code, again.content, again["Idempotency-Replayed"]) == (
            first.status_code, first.content, "true",
        ), route  # fmt: skip
        assert events_of(f"again-{tried:04}") == [], route
        other = ask(caller, method, route, target, WRONG, f"other-{tried:04}", Idempotency_Key=key)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused"), route
        tried += 1
    assert tried == sum(method == "POST" for method, _ in changing_routes())
    cases("F1", tried)
    cases("F2", tried)


def _posts(patterns: list[URLPattern | URLResolver], before: str = "") -> list[tuple[str, Any]]:
    """Every route beside the console's with its view class."""
    found = []
    for pattern in patterns:
        text = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += [] if text.startswith("console/") else _posts(pattern.url_patterns, text)
        else:
            found.append((text, getattr(pattern.callback, "cls", getattr(pattern.callback, "view_class", None))))
    return found


def test_no_post_goes_around_the_mechanism():
    """By the URL conf: a POST is answered by a WorkspaceViewSet, whose one entry asks for the key, or is named above."""
    for route, view in _posts(get_resolver().url_patterns):
        if view is not None and issubclass(view, WorkspaceViewSet):
            assert view._within_workspace is WorkspaceViewSet._within_workspace, route
            assert view.initial is WorkspaceViewSet.initial, route
            continue
        takes_post = view is None or hasattr(view, "post")
        if takes_post and route.replace("^", "").replace("$", "") in OTHER_POSTS:
            continue
        assert not hasattr(view, "post") or route == "", route


def test_the_account_hook_answers_a_key_once(db, settings, client):
    settings.PROVISIONING_TOKEN = "hook-token"
    assert ProvisioningView.takes_idempotency_key
    body = {"external_id": str(uuid4()), "name": "Acme"}

    def call(content: dict[str, Any]) -> Any:
        headers = {"Authorization": "Bearer hook-token", "Idempotency-Key": "one"}
        return client.post("/api/v1/provisioning/workspaces", content, content_type="application/json", headers=headers)

    first, again = call(body), call(body)
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (201, 201, "true")
    assert again.json() == first.json()
    assert call(body | {"name": "Other"}).json()["code"] == "idempotency_key_reused"


def test_a_read_that_is_denied_is_recorded_and_one_that_is_not_is_not(world: World, caller: Caller):
    powerless = Caller(world.id, "event.read")
    for number, path in enumerate(("/emails", "/webhooks", f"/threads/{world.ids['threads']}", "/audit-events")):
        assert powerless("GET", path, X_Request_Id=f"denied-{number:04}").status_code == 403
        (event,) = events_of(f"denied-{number:04}")
        assert event.outcome == "denied"
        assert caller("GET", path, X_Request_Id=f"allowed-{number:04}").status_code == 200
        assert events_of(f"allowed-{number:04}") == []

"""Entity tags: what has not changed is not sent again, and what has changed is not overwritten."""

import re
import threading
from collections import Counter
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client

from agents.models import AgentVersion
from kernel.transactions import in_workspace
from tests.api.conftest import Caller, furnish
from tests.tenancy.certificates import certificate, pem, rfc9440

ONE = ["agents", "agent-runs", "approvals", "attachments", "emails", "inboxes", "knowledge-sources", "system-events",
       "threads", "webhooks", "webhook-deliveries"]  # fmt: skip
CHANGES = {
    "agents": {"name": "Other"},
    "inboxes": {"name": "Other"},
    "knowledge-sources": {"title": "Other"},
    "webhooks": {"label": "Other"},
}


def test_every_resource_has_a_tag_and_is_sent_once(world, caller):
    for path in [*(f"/{name}/{world.ids[name]}" for name in ONE), "/workspace"]:
        first = caller.get(path)
        tag = first["ETag"]
        assert re.fullmatch(r'"[0-9a-f]{24}"', tag), path
        assert caller.get(path)["ETag"] == tag
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = caller.get(path, If_None_Match=known)
            assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag), (path, known)
            assert again.has_header("RateLimit")
        for other in ('"other"', tag.strip('"'), "", "nonsense", f'"{"x" * 5000}"'):
            assert caller.get(path, If_None_Match=other).status_code == 200, (path, other)
    assert not caller.get("/agents").has_header("ETag")


def test_what_is_expanded_has_a_tag_of_its_own_that_still_guards_the_resource(world, caller):
    path = f"/inboxes/{world.ids['inboxes']}"
    plain, expanded = caller.get(path)["ETag"], caller.get(f"{path}?expand=agent")["ETag"]
    assert expanded != plain
    caller("PATCH", f"/agents/{world.ids['agents']}", {"name": "Renamed"})
    later = caller.get(f"{path}?expand=agent", If_None_Match=expanded)
    assert (later.status_code, later.json()["agent"]["name"]) == (200, "Renamed")
    assert caller.get(path, If_None_Match=plain).status_code == 304
    assert caller("PATCH", path, {"name": "Mine"}, If_Match=expanded).status_code == 200
    assert caller("PATCH", path, {"name": "Mine"}, If_Match=later["ETag"]).status_code == 412


def test_a_change_needs_the_tag_of_the_present_version(world, caller):
    for name, change in CHANGES.items():
        path = f"/{name}/{world.ids[name]}"
        read = caller.get(path)
        for wrong in ('"other"', f"W/{read['ETag']}", read["ETag"].strip('"'), "", '"' + "0" * 24 + '"'):
            refused = caller("PATCH", path, change, If_Match=wrong)
            problem = refused.json()
            assert (refused.status_code, problem["code"]) == (412, "precondition_failed"), (path, wrong)
            assert "Read it again" in problem["detail"]
            assert problem["etag"] == read["ETag"]
        assert caller.get(path).json() == read.json()
        changed = caller("PATCH", path, change, If_Match=f'"old", {read["ETag"]}')
        assert changed.status_code == 200, changed.content
        assert changed["ETag"] == caller.get(path)["ETag"] != read["ETag"]
        assert caller("PATCH", path, change, If_Match=read["ETag"]).status_code == 412
        # Nobody has to; a star asks for any present version.
        assert caller("PATCH", path, change).status_code == 200
        assert caller("PATCH", path, change, If_Match="*").status_code == 200


def test_a_deletion_needs_it_too(world, caller):
    for name in ("agents", "knowledge-sources", "webhooks"):
        path = f"/{name}/{world.ids[name]}"
        tag = caller.get(path)["ETag"]
        assert caller("DELETE", path, If_Match='"other"').status_code == 412
        assert caller.get(path).status_code == 200
        assert caller("DELETE", path, If_Match=tag).status_code == 204
        assert caller("DELETE", path, If_Match=tag).status_code == 404
        assert caller("DELETE", path, If_Match="*").status_code == 404


def test_a_tag_is_no_way_to_learn_of_others(world):
    theirs = Caller(furnish("globex").id)
    tag = Caller(world.id).get(f"/webhooks/{world.ids['webhooks']}")["ETag"]
    for header in (tag, "*", '"x"'):
        real = theirs("PATCH", f"/webhooks/{world.ids['webhooks']}", {"label": "x"}, If_Match=header).json()
        absent = theirs("PATCH", f"/webhooks/{uuid4()}", {"label": "x"}, If_Match=header).json()
        assert real | {"request_id": ""} == absent | {"request_id": ""}
        assert real["status"] == 404


@pytest.mark.parametrize("name", CHANGES)
def test_of_all_who_read_the_same_one_wins(world, name):
    """Rounds of eight who PATCH what they have read: each time one is done and seven are told."""
    path, rounds, racers = f"/{name}/{world.ids[name]}", 6, 8
    field = next(iter(CHANGES[name]))
    callers = [Caller(world.id) for _ in range(racers)]
    for number in range(rounds):
        tag = callers[0].get(path)["ETag"]
        start, outcomes = threading.Barrier(racers), Counter()
        winners: list[str] = []

        def race(who: int, tag=tag, start=start, outcomes=outcomes, winners=winners, number=number) -> None:
            start.wait()
            answer = callers[who]("PATCH", path, {field: f"{number} by {who}"}, If_Match=tag)
            outcomes[answer.status_code] += 1
            winners.extend([answer.json()[field]] if answer.status_code == 200 else [])
            connections.close_all()

        threads = [threading.Thread(target=race, args=[who]) for who in range(racers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == {200: 1, 412: racers - 1}
        assert [callers[0].get(path).json()[field]] == winners
    if name == "agents":
        with in_workspace(world.id):
            assert AgentVersion.objects.filter(agent_id=world.ids["agents"]).count() == 1 + rounds


def test_the_use_of_a_credential_is_no_change_of_it(world, caller, settings):
    """Who reads a key, uses it and then changes it, has overwritten nobody; whoever watches its use still sees it."""
    settings.CLIENT_CERT_HEADER, settings.CLIENT_CERT_PROXIES = "Client-Cert", ["127.0.0.0/8"]
    one = certificate("watched")
    scopes = {"name": "watched", "scopes": ["workspace.read"]}
    key = caller("POST", "/machine-keys", scopes).json()
    cert = caller("POST", "/client-certificates", scopes | {"certificate": pem(one)}).json()
    uses = {
        f"/machine-keys/{key['id']}": {"Authorization": f"Bearer {key['secret']}"},
        f"/client-certificates/{cert['id']}": {"Client-Cert": rfc9440(one)},
    }
    for path, credential in uses.items():
        before = caller.get(path)
        assert Client(REMOTE_ADDR="127.0.0.1").get("/api/v1/workspace", headers=credential).status_code == 200
        after = caller.get(path, If_None_Match=before["ETag"])
        assert (after.status_code, before.json()["last_used_at"]) == (200, None)
        assert after.json()["last_used_at"] is not None
        assert caller.get(path, If_None_Match=after["ETag"]).status_code == 304
        # The tag from before the use still guards, and only against changes.
        changed = caller("PATCH", path, {"name": "renamed"}, If_Match=before["ETag"])
        assert (changed.status_code, changed.json()["name"]) == (200, "renamed")
        for old in (before["ETag"], after["ETag"]):
            assert caller("PATCH", path, {"name": "again"}, If_Match=old).status_code == 412
        assert caller("PATCH", path, {"name": "again"}, If_Match=changed["ETag"]).status_code == 200

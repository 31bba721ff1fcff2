"""The desk over HTTP: what is allowed, and the refusal beside it."""

from uuid import uuid4

import pytest

from audit.models import AuditEvent
from inbox.models import Thread
from kernel.transactions import in_workspace
from tests.console import seed
from tests.factories.world import deliver, house, mail
from tests.resources.nine import Caller


@pytest.fixture
def acme(db):
    place = house()
    deliver(mail())
    return place


def thread_of(place) -> str:
    with in_workspace(place.id):
        return str(Thread.objects.get().id)


def test_labels_notes_views_and_answers(acme):
    call, thread = Caller(acme.id), thread_of(acme)
    tag = call("POST", "/tags", {"name": "Refund", "color": "amber"})
    assert tag.status_code == 201
    assert call("POST", "/tags", {"name": "refund"}).json()["code"] == "name_taken"
    tag_id = tag.json()["id"]
    assert call("POST", f"/threads/{thread}/tags", {"tag_ids": [tag_id]}).json()["tags"][0]["name"] == "Refund"
    assert [row["id"] for row in call("GET", f"/threads/{thread}/tags").json()["data"]] == [tag_id]
    note = call("POST", f"/threads/{thread}/notes", {"text": "Paid twice."})
    assert (note.status_code, note.json()["text"], note.json()["author_kind"]) == (201, "Paid twice.", "machine_key")
    assert [row["text"] for row in call("GET", f"/threads/{thread}/notes").json()["data"]] == ["Paid twice."]
    assert "Paid twice." not in str(call("GET", f"/threads/{thread}/entries").json()["data"])
    view = call("POST", "/views", {"name": "Refunds", "filter": {"status": "open", "tag_id": tag_id}})
    assert (view.status_code, view.json()["threads"]) == (201, 1)
    path = f"/views/{view.json()['id']}"
    assert [row["id"] for row in call("GET", f"{path}/threads").json()["data"]] == [thread]
    closed = call(
        "PATCH", f"/threads/{thread}", {"status": "closed"}, if_match=call("GET", f"/threads/{thread}")["ETag"]
    )
    assert closed.json()["status"] == "closed"
    assert (call("GET", path).json()["threads"], call("GET", f"{path}/threads").json()["data"]) == (0, [])
    assert call("PATCH", path, {"filter": {"status": "closed"}}).json()["threads"] == 1
    answer = call("POST", "/canned-answers", {"name": "Hours", "text": "From nine."}).json()
    assert call("PATCH", f"/canned-answers/{answer['id']}", {"text": "From ten."}).json()["text"] == "From ten."
    for gone in (f"/canned-answers/{answer['id']}", path, f"/tags/{tag_id}"):
        assert call("DELETE", gone).status_code == 204
        assert call("GET", gone).status_code == 404
    with in_workspace(acme.id):
        assert {
            "tag.create",
            "thread.tag",
            "note.write",
            "view.create",
            "thread.status",
            "canned_answer.delete",
        } <= set(AuditEvent.objects.values_list("action", flat=True))


def test_each_needs_its_permission_and_its_workspace(acme):
    thread = thread_of(acme)
    reader, globex = Caller(acme.id, "thread.read"), Caller(house("globex").id)
    own = Caller(acme.id)
    tag = own("POST", "/tags", {"name": "Refund"}).json()["id"]
    view = own("POST", "/views", {"name": "All", "filter": {}}).json()["id"]
    answer = own("POST", "/canned-answers", {"name": "Hours", "text": "From nine."}).json()["id"]
    writes = [
        ("POST", "/tags", {"name": "x"}), ("PATCH", f"/tags/{tag}", {"name": "x"}), ("DELETE", f"/tags/{tag}", None),
        ("POST", f"/threads/{thread}/tags", {"tag_ids": []}), ("POST", f"/threads/{thread}/notes", {"text": "x"}),
        ("PATCH", f"/threads/{thread}", {"status": "closed"}), ("POST", "/views", {"name": "x", "filter": {}}),
        ("PATCH", f"/views/{view}", {"name": "x"}), ("DELETE", f"/views/{view}", None),
        ("POST", "/canned-answers", {"name": "x", "text": "x"}), ("PATCH", f"/canned-answers/{answer}", {"name": "x"}),
        ("DELETE", f"/canned-answers/{answer}", None),
    ]  # fmt: skip
    for method, path, body in writes:
        assert reader(method, path, body).status_code == 403, (method, path)
        if path.count("/") > 1:
            assert globex(method, path, body).status_code == 404, (method, path)
    for path in ("/tags", "/views", "/canned-answers"):
        assert len(reader("GET", path).json()["data"]) == 1
        assert globex("GET", path).json()["data"] == []
    for path in (f"/threads/{thread}/notes", f"/threads/{thread}/tags", f"/views/{view}/threads"):
        assert reader("GET", path).status_code == 200
        assert globex("GET", path).status_code == 404
        assert Caller(acme.id, "email.read")("GET", path).status_code == 403


def test_a_conversation_takes_only_what_makes_sense(acme):
    call, thread = Caller(acme.id), thread_of(acme)
    member = seed.member(seed.person("mika@acme.test"), acme.workspace)
    path = f"/threads/{thread}"
    bad = [
        {"status": "snoozed"}, {"status": "lost"}, {"assignee_id": str(uuid4())}, {"snoozed_until": "2020-01-01T00:00:00Z"},
        {"status": "open", "snoozed_until": "2099-01-01T00:00:00Z"}, {"subject": "x"}, {"snoozed_until": "soon"},
    ]  # fmt: skip
    for body in bad:
        assert call("PATCH", path, body).status_code == 422, body
    done = call("PATCH", path, {"assignee_id": str(member.id)}).json()
    assert (done["assignee_id"], done["status"]) == (str(member.id), "open")
    assert call("PATCH", path, {"assignee_id": None}).json()["assignee_id"] is None
    # All or nothing: the assignment of a request whose other half is refused is not kept.
    refused = call("PATCH", path, {"assignee_id": str(member.id), "snoozed_until": "2020-01-01T00:00:00Z"})
    assert (refused.status_code, call("GET", path).json()["assignee_id"]) == (422, None)
    for body in ({"text": " "}, {"text": "x", "entry_id": str(uuid4())}, {"text": "x", "mentions": [str(uuid4())]}):
        assert call("POST", f"{path}/notes", body).status_code == 422, body
    assert call("POST", f"{path}/tags", {"tag_ids": [str(uuid4())]}).status_code == 422

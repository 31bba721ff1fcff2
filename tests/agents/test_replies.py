"""Replies in a caller's words, over HTTP: the rules of the inbox's agent decide, and a person where they say so."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client

from agents.models import AgentRun, ApprovalRequest
from agents.services import configuring
from audit.models import AuditEvent
from inbox.models import Entry, OutboundMessage
from inbox.services import inboxes
from kernel.transactions import in_workspace
from tenancy.services import keys
from tests.agents.factories import ANSWER, bind, case, drain, office, receive, send_all, work
from tests.factories.world import house


class Caller:
    """A machine with a key."""

    def __init__(self, workspace_id, *scopes):
        self.key, secret = keys.issue(workspace_id=workspace_id, name="Outside", scopes=scopes or ["*"])
        self.headers = {"Authorization": f"Bearer {secret}"}

    def post(self, path, body=None, **headers):
        return Client().post(
            f"/api/v1/{path}", body or {}, content_type="application/json", headers=self.headers | headers
        )

    def get(self, path):
        return Client().get(f"/api/v1/{path}", headers=self.headers)


def waiting(autonomy="autonomous", **fields):
    """An office whose mail the own agent has left to a person, as if it had not known an answer."""
    place = office(autonomy=autonomy, **fields)
    agent = place.agent
    bind(place.house, None)
    email = receive(place)
    bind(place.house, agent)
    return place, email


def test_a_reply_within_autonomy_is_sent_once_in_the_callers_name(db):
    place, email = waiting()
    caller = Caller(place.id)
    body = {"email_id": str(email.id), "text": ANSWER}
    first = caller.post("replies", body, **{"Idempotency-Key": "one"})
    again = caller.post("replies", body, **{"Idempotency-Key": "one"})
    other_key = caller.post("replies", body, **{"Idempotency-Key": "two"})
    assert (first.status_code, first.json()["status"]) == (201, "sending")
    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")
    assert (other_key.status_code, other_key.json()["code"]) == (409, "email_not_open")
    drain()
    assert send_all() == 1
    assert caller.get(f"replies/{first.json()['id']}").json()["status"] == "sent"
    with in_workspace(place.id):
        entry = Entry.objects.get(outbound__isnull=False)
        assert (entry.author_kind, entry.author_id, entry.author_label) == (
            "machine_key", str(caller.key.id), "Outside",
        )  # fmt: skip
        made = AuditEvent.objects.filter(action="reply.queue").get()
        assert (made.actor_kind, made.actor_id) == ("machine_key", str(caller.key.id))
    told = case(email)
    assert (told.execution.status, told.execution.outcome, told.email.state) == ("succeeded", "answered", "handled")
    assert told.execution.provider == "outside"
    assert told.steps[-1].title == "Answered; in the words of a caller from outside"


@pytest.mark.parametrize(
    ("autonomy", "text", "policy", "status"),
    [
        ("supervised", ANSWER, {}, "sending"),
        ("draft", ANSWER, {}, "waiting_approval"),
        ("autonomous", ANSWER, {"run_agent": False}, "waiting_approval"),
        # What no text of the company holds: an address of a stranger.
        ("autonomous", "Please write to refunds@evil.example instead.", {}, "waiting_approval"),
    ],
)
def test_autonomy_and_policy_decide(db, autonomy, text, policy, status):
    place, email = waiting(autonomy)
    inboxes.change(workspace_id=place.id, inbox_id=place.house.inbox.id, changes={"policy": policy})
    answer = Caller(place.id).post("replies", {"email_id": str(email.id), "text": text})
    assert answer.json()["status"] == status, answer.json()
    with in_workspace(place.id):
        assert OutboundMessage.objects.count() == (status == "sending")
        assert ApprovalRequest.objects.count() == (status == "waiting_approval")


def test_a_draft_waits_for_a_person_who_is_not_its_author(db):
    place, email = waiting()
    author, other = Caller(place.id), Caller(place.id)
    drafted = author.post("replies/draft", {"email_id": str(email.id), "text": ANSWER}).json()
    assert (drafted["status"], drafted["entry_id"]) == ("waiting_approval", None)
    path = f"approvals/{drafted['approval_id']}"
    assert author.get(path).json()["requested_by"] == "Outside"
    for verb in ("approve", "reject"):
        refused = author.post(f"{path}/{verb}")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert other.post(f"{path}/approve").status_code == 200
    work()
    assert send_all() == 1
    assert author.get(f"replies/{drafted['id']}").json()["status"] == "sent"
    assert case(email).execution.outcome == "answered"


def test_a_rejected_draft_is_said_so_and_is_the_last(db):
    place, email = waiting()
    author = Caller(place.id)
    drafted = author.post("replies/draft", {"email_id": str(email.id), "text": ANSWER}).json()
    Caller(place.id).post(f"approvals/{drafted['approval_id']}/reject", {"comment": "No."})
    assert author.get(f"replies/{drafted['id']}").json()["status"] == "rejected"
    assert author.post("replies", {"email_id": str(email.id), "text": ANSWER}).status_code == 409


def test_without_a_licence_nothing_is_proposed(db):
    place, email = waiting()
    caller = Caller(place.id)
    body = {"email_id": str(email.id), "text": ANSWER}

    def refused():
        answer = caller.post("replies", body)
        return answer.status_code, answer.json()["code"]

    configuring.update(workspace_id=place.id, agent_id=place.agent.id, status="paused")
    assert refused() == (409, "inbox_has_no_agent")
    configuring.update(workspace_id=place.id, agent_id=place.agent.id, status="active")
    bind(place.house, None)
    assert refused() == (409, "inbox_has_no_agent")
    bind(place.house, place.agent)
    configuring.update(workspace_id=place.id, agent_id=place.agent.id, permissions=["thread.read"])
    answer = caller.post("replies", body)
    assert (answer.status_code, answer.json()["status"]) == (201, "refused")
    assert "email.send" in answer.json()["reason"]
    with in_workspace(place.id):
        assert not OutboundMessage.objects.exists()


def test_a_mail_that_the_own_agent_works_on_is_not_open(db):
    place = office()
    email = receive(place)
    answer = Caller(place.id).post("replies", {"email_id": str(email.id), "text": ANSWER})
    assert (answer.status_code, answer.json()["code"]) == (409, "email_not_open")
    with in_workspace(place.id):
        assert AgentRun.objects.count() == 1


def test_refusals_beside_what_is_allowed(db):
    place, email = waiting()
    stranger = Caller(house("other").id)
    body = {"email_id": str(email.id), "text": ANSWER}
    assert Caller(place.id, "email.draft").post("replies", body).status_code == 403
    assert Caller(place.id, "email.send").post("replies/draft", body).status_code == 403
    unknown = stranger.post("replies", body | {"email_id": str(uuid4())})
    theirs = stranger.post("replies", body)
    assert theirs.status_code == unknown.status_code == 404
    assert {**theirs.json(), "request_id": ""} == {**unknown.json(), "request_id": ""}
    caller = Caller(place.id)
    for wrong in ({"text": ""}, {"text": "\u200b"}, {"text": "x" * 20_001}, {"email_id": "7"}):
        assert caller.post("replies", body | wrong).status_code == 422
    made = caller.post("replies", body).json()
    assert stranger.get(f"replies/{made['id']}").status_code == 404
    found = caller.get("knowledge-passages?query=Saturday&limit=1").json()["data"]
    assert "Saturday" in found[0]["text"]
    assert stranger.get("knowledge-passages?query=Saturday").json()["data"] == []
    assert caller.get("knowledge-passages").status_code == 400


def test_of_many_at_once_one_is_the_reply(db):
    place, email = waiting()
    caller = Caller(place.id)

    def propose(number):
        try:
            return caller.post("replies", {"email_id": str(email.id), "text": f"{ANSWER} {'!' * number}"}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        codes = sorted(pool.map(propose, range(6)))
    assert codes == [201, *[409] * 5]
    with in_workspace(place.id):
        assert OutboundMessage.objects.count() == 1

"""An answer that would not be sent is refused while it is written: to callers, to approvers, and to agents before a model."""

import pytest

from agents.models import AgentRun
from agents.services import approving
from contacts.models import SuppressionEntry
from contacts.services import suppressing
from contacts.types import SuppressionReason
from kernel import clock
from kernel.transactions import in_workspace
from tests.agents.factories import ANSWER, PERSON, case, office, play, receive, send_all, work
from tests.agents.test_replies import Caller, waiting

ADA = "ada@customer.test"


def suppress(place) -> SuppressionEntry:
    with in_workspace(place.id):
        suppressing.suppress(
            workspace_id=place.id, address=ADA, reason=SuppressionReason.COMPLAINT, at=clock.now(), detail="abuse"
        )
        return SuppressionEntry.objects.get()


@pytest.mark.parametrize("path", ["replies", "replies/draft"])
def test_a_caller_is_told_what_to_do_and_may_do_it(db, path):
    place, email = waiting()
    row, caller = suppress(place), Caller(place.id)
    body = {"email_id": str(email.id), "text": ANSWER}
    refused = caller.post(path, body)
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["errors"][0]["pointer"]) == (
        422, "recipient_suppressed", "/email_id",
    )  # fmt: skip
    assert "suppressed (complaint)" in problem["detail"]
    assert "lift that in the console under Suppressed addresses" in problem["detail"]
    assert ADA not in refused.content.decode()
    with in_workspace(place.id):
        assert not AgentRun.objects.exists()
    # Whoever lifts it has the mail as open as before.
    suppressing.lift(workspace_id=place.id, suppression_id=row.id)
    assert caller.post(path, body).status_code == 201


@pytest.mark.parametrize("autonomy", ["autonomous", "draft"])
def test_an_agents_run_is_left_to_a_person_before_a_model_is_asked(db, autonomy):
    place = office(autonomy=autonomy)
    play(lambda _request: pytest.fail("a model was asked for what nobody will get"))
    suppress(place)
    email = receive(place)
    work()
    done = case(email)
    assert (done.execution.status, done.execution.outcome, done.email.state) == ("needs_human", "blocked", "threaded")
    assert "suppressed (complaint)" in done.execution.reason
    assert (done.intent, done.approval, done.replies, send_all()) == (None, None, [], 0)


def test_what_was_approved_before_is_left_to_a_person_too(db):
    place = office(autonomy="draft")
    play()
    email = receive(place)
    work()
    suppress(place)
    approving.approve(workspace_id=place.id, approval_id=case(email).approval.id, actor=PERSON)
    work()
    done = case(email)
    assert (done.execution.status, done.intent.status, done.replies) == ("needs_human", "blocked", [])
    assert "suppressed (complaint)" in done.intent.error

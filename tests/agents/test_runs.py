"""A mail becomes a run, and the run ends with an answer or with a person."""

import pytest

from tests.agents.factories import ANSWER, case, office, play, receive, send_all, work


@pytest.fixture(autouse=True)
def _silent_script():
    from agents.llm import scripted

    yield
    scripted.play(None)


def test_a_mail_is_answered_once(db):
    place = office()
    play()
    email = receive(place)
    assert case(email).email.state == "queued"
    assert work() == 1
    running = case(email)
    assert running.execution.status == "waiting_effect"
    assert [reply.envelope_to for reply in running.replies] == [["ada@customer.test"]]
    send_all()
    done = case(email)
    assert (done.execution.status, done.execution.outcome) == ("succeeded", "answered")
    assert (done.email.state, done.run.is_live) == ("handled", False)
    assert (done.intent.status, done.intent.decision) == ("executed", "allow")
    assert [step.kind for step in done.steps] == ["context", "knowledge", "model", "plan", "action", "note"]
    assert done.intent.arguments["text"] == ANSWER
    assert work() == 0

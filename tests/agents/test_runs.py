"""A mail becomes a run, and the run ends with an answer or with a person."""

import pytest

from agents.llm.base import ModelError
from agents.models import AgentRun
from agents.services import configuring, executing, leasing, starting
from audit.models import AuditEvent
from kernel.transactions import in_workspace
from tests.agents.factories import (
    ANSWER,
    bind,
    case,
    make_due,
    office,
    play,
    proposal,
    receive,
    send_all,
    work,
)


def _slugs(place):
    from kernel.models import OutboxEvent

    with in_workspace(place.id):
        return list(OutboxEvent.objects.filter(workspace_id=place.id).order_by("id").values_list("slug", flat=True))


def test_a_mail_is_answered_once(db):
    place = office()
    play()
    email = receive(place)
    assert case(email).email.state == "queued"
    assert work() == 1
    running = case(email)
    assert running.execution.status == "waiting_effect"
    assert running.email.state == "running"
    assert [reply.envelope_to for reply in running.replies] == [["ada@customer.test"]]
    assert running.replies[0].is_automatic
    send_all()
    done = case(email)
    assert (done.execution.status, done.execution.outcome) == ("succeeded", "answered")
    assert (done.email.state, done.run.is_live) == ("handled", False)
    assert (done.intent.status, done.intent.decision) == ("executed", "allow")
    assert [step.kind for step in done.steps] == ["context", "knowledge", "model", "plan", "action", "note"]
    assert done.intent.arguments["text"] == ANSWER
    assert (done.execution.input_tokens, done.execution.output_tokens, done.execution.cost_micros) == (100, 20, 50)
    assert done.execution.used_language_model
    assert work() == 0
    slugs = [slug for slug in _slugs(place) if slug.startswith(("agent_run", "approval", "entry"))]
    assert slugs == ["agent_run.started", "entry.queued", "entry.sent", "agent_run.finished"]


def test_a_step_names_the_tool_as_the_registry_knows_it(db):
    place = office()
    play()
    email = receive(place)
    work()
    steps = {step.kind: step for step in case(email).steps}
    assert (steps["action"].tool, steps["action"].permission, steps["action"].risk) == (
        "inbox.reply",
        "email.send",
        "low",
    )
    assert (steps["knowledge"].tool, steps["knowledge"].permission) == ("knowledge.search", "agent.read")
    assert steps["plan"].result["access"] == "effect"


def test_the_mail_text_is_not_copied_into_the_steps(db):
    place = office()
    play()
    email = receive(place, "Hello, what are your opening hours? My secret word is wombat.")
    work()
    assert "wombat" not in str([(step.arguments, step.result) for step in case(email).steps])


def test_what_asks_a_person_sends_nothing(db):
    place = office()
    play(proposal(ask_person="nobody wrote that down"))
    email = receive(place)
    work()
    done = case(email)
    assert (done.execution.status, done.execution.outcome) == ("needs_human", "asked_person")
    assert (done.email.state, done.email.state_reason) == ("threaded", "nobody wrote that down")
    assert done.replies == []
    assert done.intent is None


@pytest.mark.parametrize(
    ("news", "status", "outcome", "intent"),
    [("failed", "needs_human", "send_failed", "failed"), ("uncertain", "needs_human", "send_uncertain", "uncertain")],
)
def test_a_reply_that_does_not_leave_goes_to_a_person(db, news, status, outcome, intent):
    place = office()
    play()
    email = receive(place)
    work()
    send_all(outcome=news)
    done = case(email)
    assert (done.execution.status, done.execution.outcome, done.intent.status) == (status, outcome, intent)
    assert done.email.state == "threaded"


def test_an_uncertain_reply_is_settled_by_later_news(db):
    from agents.services import settling

    place = office()
    play()
    email = receive(place)
    work()
    send_all(outcome="uncertain")
    entry = case(email).intent.entry_id
    with in_workspace(place.id):
        settling.sent(entry_id=entry, provider_ref="late")
    done = case(email)
    assert (done.execution.status, done.intent.status, done.email.state) == ("succeeded", "executed", "handled")
    with in_workspace(place.id):
        settling.failed(entry_id=entry, error="a bounce")
    assert case(email).execution.status == "succeeded"


def test_the_model_may_search_and_then_answer(db):
    place = office()
    said = [proposal(search="reset a password"), proposal(answer="Open the sign-in page and choose Forgot password.")]
    seen = []

    def model(request):
        seen.append(request)
        return said[len(seen) - 1]

    play(model)
    email = receive(place, "I cannot get in, what now?")
    work()
    done = case(email)
    kinds = [step.kind for step in done.steps]
    assert kinds == ["context", "knowledge", "model", "knowledge", "model", "plan", "action"]
    assert seen[1].searches == ["reset a password"]
    assert any("Forgot password" in passage.text for passage in seen[1].passages)
    assert (done.execution.input_tokens, done.execution.cost_micros) == (200, 100)


def test_a_model_that_searches_in_circles_is_stopped(db):
    place = office()
    play(proposal(search="more"))
    email = receive(place)
    work()
    assert case(email).execution.outcome == "looped"
    assert case(email).replies == []


def test_a_model_that_never_ends_meets_the_limit_of_steps(db):
    place = office(max_steps=8)
    count = iter(range(1000))
    play(lambda _request: proposal(search=f"query {next(count)}"))
    email = receive(place)
    work()
    done = case(email)
    assert done.execution.outcome == "over_budget"
    assert len(done.steps) <= 9
    with in_workspace(place.id):
        assert AuditEvent.objects.filter(action="agent_run.finish").count() == 1


def test_a_run_spends_no_more_than_its_limit_and_one_call(db):
    place = office(max_cost_micros=120)
    count = iter(range(1000))
    play(lambda _request: proposal(search=f"query {next(count)}", cost_micros=100))
    email = receive(place)
    work()
    done = case(email)
    assert (done.execution.outcome, done.execution.cost_micros) == ("over_budget", 200)


def test_a_faint_model_is_asked_again_and_then_a_person(db, settings):
    settings.RUN_RETRY_SECONDS = [0.0, 0.0]
    place = office()
    calls = []

    def faint(_request):
        calls.append(1)
        raise ModelError("rate_limited", "too many requests", retryable=True)

    play(faint)
    email = receive(place)
    work()
    done = case(email)
    assert len(calls) == 3
    assert (done.execution.status, done.execution.outcome, done.execution.error_code) == (
        "needs_human",
        "model_failed",
        "rate_limited",
    )
    assert (done.execution.input_tokens, done.replies) == (0, [])


def test_a_retry_waits_as_the_schedule_says_and_goes_on_from_what_is_recorded(db, settings):
    settings.RUN_RETRY_SECONDS = [60.0]
    place = office()
    first = [True]

    def once(_request):
        if first:
            first.pop()
            raise ModelError("timeout", "no answer", retryable=True)
        return proposal(answer=ANSWER)

    play(once)
    email = receive(place)
    work()
    assert (case(email).execution.status, case(email).email.state) == ("queued", "running")
    assert work() == 0
    make_due()
    work()
    done = case(email)
    assert [step.kind for step in done.steps] == ["context", "knowledge", "model", "plan", "action"]
    assert done.execution.status == "waiting_effect"


def test_a_permanent_fault_goes_to_a_person_at_once(db):
    place = office()

    def broken(_request):
        raise ModelError("not_authorised", "the key is wrong", retryable=False)

    play(broken)
    email = receive(place)
    work()
    assert case(email).execution.error_code == "not_authorised"
    assert case(email).execution.status == "needs_human"


def test_a_poison_run_is_given_up_and_the_next_ones_go_on(db, settings):
    settings.RUN_RETRY_SECONDS = [0.0]
    place = office()
    play()
    poison = receive(place)
    for _ in range(2):
        assert leasing.claim() is not None
        make_due()
    other = receive(place, sender="Bob <bob@customer.test>")
    work()
    assert (case(poison).execution.outcome, case(poison).execution.status) == ("poison", "needs_human")
    assert case(other).execution.status == "waiting_effect"


def test_a_fault_of_ours_is_tried_again_and_then_left_to_a_person(db, settings, monkeypatch):
    settings.RUN_RETRY_SECONDS = [0.0]
    monkeypatch.setattr("agents.queries.knowledge.nearest", lambda **_: 1 / 0)
    place = office()
    email = receive(place)
    work()
    done = case(email)
    assert (done.execution.outcome, done.execution.error_code) == ("fault", "ZeroDivisionError")


@pytest.mark.parametrize("obstacle", ["none", "paused", "policy", "deleted"])
def test_a_mail_without_a_ready_agent_stays_with_people(db, obstacle):
    from inbox.services import inboxes

    place = office()
    if obstacle == "none":
        bind(place.house, None)
    elif obstacle == "paused":
        configuring.pause(workspace_id=place.id, agent_id=place.agent.id)
    elif obstacle == "policy":
        inboxes.change(workspace_id=place.id, inbox_id=place.house.inbox.id, changes={"policy": {"run_agent": False}})
    else:
        configuring.delete(workspace_id=place.id, agent_id=place.agent.id)
    email = receive(place)
    with in_workspace(place.id):
        assert not AgentRun.objects.exists()
        email.refresh_from_db()
        assert email.state == "threaded"
        reasons = AuditEvent.objects.filter(action="agent_run.skip").count()
    assert reasons == 1


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"auto_submitted": "auto-replied"}, "auto_reply"),
        ({"list_id": "<news.customer.test>"}, "list"),
        ({"precedence": "bulk"}, None),
    ],
)
def test_machines_get_no_run(db, headers, reason):
    place = office()
    email = receive(place, **headers)
    with in_workspace(place.id):
        assert not AgentRun.objects.exists()
        email.refresh_from_db()
    assert email.state == "ignored"
    assert reason in (None, email.state_reason)


def test_two_deliveries_of_one_fact_start_one_run(db):
    place = office()
    email = receive(place)
    for _ in range(3):
        with in_workspace(place.id):
            assert starting.start(email_id=email.id, workspace_id=place.id) is None
    play()
    work()
    send_all()
    with in_workspace(place.id):
        assert starting.start(email_id=email.id, workspace_id=place.id) is None
        assert AgentRun.objects.count() == 1


def test_a_worker_that_is_told_to_stop_puts_the_run_back(db):
    place = office()
    play()
    email = receive(place)
    asked = iter([True, True, False])
    executing.run_due(keep_going=lambda: next(asked, False))
    stopped = case(email)
    assert (stopped.execution.status, stopped.execution.attempts) == ("queued", 0)
    assert 0 < len(stopped.steps) < 5
    work()
    assert case(email).execution.status == "waiting_effect"
    assert len([step for step in case(email).steps if step.kind == "model"]) == 1


def test_a_mail_that_a_person_handled_is_left_alone(db):
    from inbox.services import progress
    from inbox.types import EmailState

    place = office()
    play()
    email = receive(place)
    with in_workspace(place.id):
        progress.move(email_id=email.id, to=EmailState.HANDLED, reason="answered by Pat")
    work()
    done = case(email)
    assert (done.execution.status, done.execution.outcome, done.replies) == ("stopped", "overtaken", [])
    assert done.email.state == "handled"


def test_the_caps_on_automatic_answers_hold_a_run(db):
    from inbox.models import OutboundMessage

    place = office()
    play()
    first = receive(place, message_id="<one@customer.test>")
    work()
    send_all()
    second = receive(place, in_reply_to="<one@customer.test>", references="<one@customer.test>")
    work()
    done = case(second)
    assert (done.execution.status, done.execution.outcome, done.intent.status) == ("needs_human", "held", "blocked")
    assert done.email.state == "threaded"
    with in_workspace(place.id):
        assert OutboundMessage.objects.count() == 1
    assert case(first).execution.status == "succeeded"


def test_the_work_of_an_agent_is_in_the_audit_trail_under_its_name(db):
    place = office()
    play()
    receive(place)
    work()
    send_all()
    with in_workspace(place.id):
        rows = dict(AuditEvent.objects.values_list("action", "actor_kind"))
    assert rows["action.execute"] == "agent"
    assert rows["reply.queue"] == "agent"
    assert {"agent_run.start", "agent_run.finish", "action.decide"} <= set(rows)

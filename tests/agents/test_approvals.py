"""What a person approves is exactly what is sent, once, in time, by the agent as it was; everything else is refused."""

import threading
from datetime import timedelta

import pytest
from django.db import connections

from agents.models import ActionIntent, ApprovalRequest, Execution
from agents.services import approving, configuring, executing
from agents.services.approving import AlreadyDecided, Expired
from agents.services.leasing import Lease
from audit.models import AuditEvent
from inbox.models import Email, OutboundMessage
from kernel import clock
from kernel.context import Actor
from kernel.errors import Conflict, DomainError, Forbidden, Invalid, NotFound
from kernel.transactions import in_workspace
from tests.agents.factories import ANSWER, PERSON, case, drain, office, play, receive, receive_many, send_all, work


@pytest.fixture
def asked(db):
    """A draft agent whose answer waits for a person."""
    place = office(autonomy="draft")
    play()
    email = receive(place)
    work()
    return place, email


def _replies(place):
    with in_workspace(place.id):
        return OutboundMessage.objects.count()


def _approve(place, email, **options):
    return approving.approve(workspace_id=place.id, approval_id=case(email).approval.id, actor=PERSON, **options)


def test_a_draft_agent_asks_for_everything(asked):
    place, email = asked
    found = case(email)
    assert (found.execution.status, found.email.state) == ("waiting_approval", "waiting_approval")
    assert (found.intent.status, found.intent.decision) == ("waiting_approval", "ask")
    assert found.approval.snapshot["text"] == ANSWER
    assert found.approval.requested_by == "Help desk"
    assert bytes(found.approval.content_hash) == bytes(found.intent.content_hash)
    assert _replies(place) == 0
    assert work() == 0


def test_an_approved_answer_is_sent_and_the_approval_used_up(asked):
    place, email = asked
    approval = _approve(place, email, comment="fine")
    assert (approval.state, approval.decided_by_label) == ("approved", "Pat Person")
    work()
    sent = case(email)
    assert (sent.execution.status, sent.approval.state) == ("waiting_effect", "consumed")
    assert sent.approval.consumed_at is not None
    assert not sent.replies[0].is_automatic
    send_all()
    done = case(email)
    assert (done.execution.status, done.email.state) == ("succeeded", "handled")
    assert len([step for step in done.steps if step.kind == "model"]) == 1
    assert len([step for step in done.steps if step.kind == "action"]) == 1


def test_the_edited_content_is_what_is_approved_and_sent(asked):
    place, email = asked
    before = bytes(case(email).approval.content_hash)
    approval = _approve(place, email, edited_text="On Saturday until 14. \u200bSee you!\u202e")
    assert approval.edited
    assert bytes(approval.content_hash) != before
    assert approval.snapshot["text"] == "On Saturday until 14. See you!"
    assert approval.snapshot["asked_text"] == ANSWER
    work()
    with in_workspace(place.id):
        reply = OutboundMessage.objects.select_related("entry").get()
    assert reply.entry.body_text == "On Saturday until 14. See you!"


def test_an_empty_or_endless_edit_is_refused(asked):
    place, email = asked
    for text in ("  \u200b ", "x" * 20_001):
        with pytest.raises(Invalid):
            _approve(place, email, edited_text=text)
    assert case(email).approval.state == "pending"


def test_a_rejected_answer_leaves_the_mail_to_people(asked):
    place, email = asked
    approving.reject(workspace_id=place.id, approval_id=case(email).approval.id, actor=PERSON, comment="too curt")
    work()
    done = case(email)
    assert (done.approval.state, done.intent.status, done.execution.outcome) == ("rejected", "rejected", "rejected")
    assert done.email.state_reason == "Pat Person rejected the proposed answer: too curt"
    assert _replies(place) == 0


def test_nobody_in_time_is_not_a_rejection(asked):
    place, email = asked
    approval = case(email).approval
    assert approving.expire_due() == 0
    with in_workspace(place.id):
        ApprovalRequest.objects.filter(id=approval.id).update(expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(Expired):
        _approve(place, email)
    assert approving.expire_due() == 1
    assert approving.expire_due() == 0
    done = case(email)
    assert (done.approval.state, done.intent.status, done.execution.outcome) == ("expired", "expired", "expired")
    assert (done.approval.decided_at, done.approval.decided_by_kind) == (None, "")
    with in_workspace(place.id):
        assert AuditEvent.objects.get(action="approval.expire").actor_kind == "system"
        assert not AuditEvent.objects.filter(action="approval.decide").exists()
    with pytest.raises(Expired):
        approving.reject(workspace_id=place.id, approval_id=approval.id, actor=PERSON)
    assert _replies(place) == 0


def test_a_decision_is_made_once_and_not_by_an_agent(asked):
    place, email = asked
    approval = case(email).approval
    with pytest.raises(Forbidden):
        approving.approve(workspace_id=place.id, approval_id=approval.id, actor=Actor(kind="agent", id="1"))
    _approve(place, email)
    for decide in (approving.approve, approving.reject):
        with pytest.raises(AlreadyDecided):
            decide(workspace_id=place.id, approval_id=approval.id, actor=PERSON)
    other = office("globex")
    with pytest.raises(NotFound):
        approving.approve(workspace_id=other.id, approval_id=approval.id, actor=PERSON)


def _change_arguments(place, found):
    arguments = found.intent.arguments | {"text": found.intent.arguments["text"].replace("o", "\u03bf", 1)}
    ActionIntent.objects.filter(id=found.intent.id).update(arguments=arguments)


def _change_white_space(place, found):
    arguments = found.intent.arguments | {"text": found.intent.arguments["text"] + " "}
    ActionIntent.objects.filter(id=found.intent.id).update(arguments=arguments)


def _change_target(place, found):
    other = found.intent.arguments | {"email_id": str(place.house.inbox.id)}
    ActionIntent.objects.filter(id=found.intent.id).update(arguments=other)


def _change_arguments_and_hash(place, found):
    from agents import tools

    arguments = found.intent.arguments | {"text": "Send money"}
    digest = tools.content_hash(tools.REPLY, arguments)
    ActionIntent.objects.filter(id=found.intent.id).update(arguments=arguments, content_hash=digest)


def _let_expire(place, found):
    ApprovalRequest.objects.filter(id=found.approval.id).update(expires_at=clock.now() - timedelta(seconds=1))


def _use_up(place, found):
    ApprovalRequest.objects.filter(id=found.approval.id).update(consumed_at=clock.now())


def _take_back(place, found):
    ApprovalRequest.objects.filter(id=found.approval.id).update(state="rejected")


def _change_rules(place, found):
    ActionIntent.objects.filter(id=found.intent.id).update(policy_version=99)


def _pause(place, found):
    configuring.pause(workspace_id=place.id, agent_id=place.agent.id)


def _pause_without_version(place, found):
    from agents.models import Agent

    Agent.objects.filter(id=place.agent.id).update(status="paused")


def _delete(place, found):
    configuring.delete(workspace_id=place.id, agent_id=place.agent.id)


def _new_version(place, found):
    configuring.update(workspace_id=place.id, agent_id=place.agent.id, system_prompt="Be rude.")


def _suspend(place, found):
    from tenancy.models import Workspace

    Workspace.objects.filter(id=place.id).update(status="suspended")


def _handled(place, found):
    from inbox.services import progress
    from inbox.types import EmailState

    progress.move(email_id=found.email.id, to=EmailState.HANDLED, reason="a person answered")


@pytest.mark.parametrize(
    "change",
    [
        _change_arguments,
        _change_white_space,
        _change_target,
        _change_arguments_and_hash,
        _let_expire,
        _use_up,
        _take_back,
        _change_rules,
        _pause,
        _pause_without_version,
        _delete,
        _new_version,
        _suspend,
        _handled,
    ],
)
def test_what_changed_after_the_approval_is_not_executed(asked, change):
    place, email = asked
    _approve(place, email)
    with in_workspace(place.id):
        change(place, case(email))
    work()
    assert _replies(place) == 0
    done = case(email)
    assert done.execution.status in ("needs_human", "stopped")
    assert done.intent.status in ("blocked", "expired")
    assert not done.run.is_live


def test_a_lost_permission_stops_an_approved_answer(asked, monkeypatch):
    place, email = asked
    _approve(place, email)
    monkeypatch.setattr("agents.services.running.Run.may", lambda self, tool: tool.name != "inbox.reply")
    work()
    assert _replies(place) == 0


def test_an_agent_without_the_permission_to_send_never_sends(db):
    place = office(autonomy="autonomous", permissions=["thread.read", "agent.read"])
    play()
    email = receive(place)
    work()
    assert _replies(place) == 0
    assert case(email).intent.error == "the agent lacks the permission email.send"


def test_the_same_content_is_executed_once(asked):
    place, email = asked
    _approve(place, email)
    work()
    work()
    assert _replies(place) == 1


def test_an_old_worker_cannot_execute_an_approved_intent(asked):
    place, email = asked
    _approve(place, email)
    found = case(email)
    stale = Lease(found.execution.id, place.id, token=found.execution.lease_token, attempts=1, generation=1)
    executing.work(stale)
    assert _replies(place) == 0
    work()
    assert _replies(place) == 1


@pytest.mark.long
def test_a_hundred_races_have_one_decision_each(db):
    place = office(autonomy="draft")
    play()
    rounds = 100
    emails = receive_many(place, rounds)
    work()
    with in_workspace(place.id):
        approvals = list(ApprovalRequest.objects.order_by("id").values_list("id", flat=True))
    assert len(approvals) == rounds
    barrier = threading.Barrier(2)
    won: dict[str, list] = {"approve": [], "reject": []}

    def decide(name, action):
        try:
            for approval_id in approvals:
                barrier.wait(timeout=30)
                try:
                    action(workspace_id=place.id, approval_id=approval_id, actor=PERSON)
                    won[name].append(approval_id)
                except Conflict:
                    pass
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=decide, args=("approve", approving.approve)),
        threading.Thread(target=decide, args=("reject", approving.reject)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won["approve"] + won["reject"]) == sorted(approvals)
    drain()
    work()
    assert _replies(place) == len(won["approve"])
    with in_workspace(place.id):
        assert AuditEvent.objects.filter(action="approval.decide").count() == rounds
    assert len(emails) == rounds


def test_a_question_that_races_with_its_expiry_ends_one_way(db):
    place = office(autonomy="draft")
    play()
    receive_many(place, 20)
    work()
    with in_workspace(place.id):
        approvals = list(ApprovalRequest.objects.values_list("id", flat=True))
        ApprovalRequest.objects.update(expires_at=clock.now() + timedelta(seconds=0.3))
    barrier = threading.Barrier(2)
    approved, expired = [], []

    def approve():
        try:
            barrier.wait(timeout=30)
            for approval_id in approvals:
                try:
                    approving.approve(workspace_id=place.id, approval_id=approval_id, actor=PERSON)
                    approved.append(approval_id)
                except DomainError:
                    pass
        finally:
            connections.close_all()

    def expire():
        try:
            barrier.wait(timeout=30)
            for _ in range(200):
                ended = [key for key in approvals if approving.expire(workspace_id=place.id, approval_id=key)]
                expired.extend(ended)
                if len(expired) + len(approved) == len(approvals):
                    break
        finally:
            connections.close_all()

    threads = [threading.Thread(target=approve), threading.Thread(target=expire)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(approved + expired) == sorted(approvals)


def test_a_person_who_is_faster_in_the_last_moment_wins(asked, monkeypatch):
    from inbox.services import progress, replying
    from inbox.types import EmailState
    from tests.agents.factories import make_due

    place, email = asked
    _approve(place, email)
    real = replying.queue_reply

    def late(**options):
        queued = real(**options)
        progress.move(email_id=email.id, to=EmailState.HANDLED, reason="a person was faster")
        return queued

    monkeypatch.setattr(replying, "queue_reply", late)
    work()
    assert _replies(place) == 0
    monkeypatch.undo()
    with in_workspace(place.id):
        progress.move(email_id=email.id, to=EmailState.HANDLED, reason="a person was faster")
    make_due()
    work()
    assert _replies(place) == 0
    assert case(email).execution.outcome == "overtaken"


def test_a_persons_answer_withdraws_the_open_question(db):
    from inbox.services import writing

    place = office(autonomy="draft", provider="local")
    email = receive(place)
    work()
    with in_workspace(place.id):
        assert ApprovalRequest.objects.get().state == "pending"
    writing.reply(workspace_id=place.id, email_id=email.id, text="I take this one.", key="k", author=PERSON)
    drain()
    with in_workspace(place.id):
        assert ApprovalRequest.objects.get().state == "withdrawn"
        assert Execution.objects.get().status == "stopped"
        assert Email.objects.get().state == "handled"
        assert OutboundMessage.objects.count() == 1

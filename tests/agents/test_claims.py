"""What a run rests on is asked again when its effect is claimed: the inbox, its policy, and who approved (M3, AG-9)."""

import pytest

from agents.services import approving, configuring
from inbox.models import OutboundMessage
from inbox.services import inboxes
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, RolePermission, User
from tenancy.services import keys, leaving, people, tokens
from tests.agents.factories import ANSWER, PERSON, bind, case, office, play, receive, work
from tests.agents.test_replies import Caller, waiting


def _change(place, **changes):
    inboxes.change(workspace_id=place.id, inbox_id=place.house.inbox.id, changes=changes)


def _unbind(place):
    bind(place.house, None)


def _bind_another(place):
    bind(place.house, configuring.create(workspace_id=place.id, name="Other", autonomy="autonomous"))


def _switch_off(place):
    _change(place, active=False)


def _leave_to_people(place):
    _change(place, policy={"agent": "none"})


def _lower(place):
    _change(place, policy={"autonomy": "draft"})


def _nothing(place):
    _change(place, name="Another name")


def _sent(place):
    with in_workspace(place.id):
        return OutboundMessage.objects.count()


def _asked(autonomy="draft"):
    place = office(autonomy=autonomy)
    play()
    email = receive(place)
    work()
    return place, email


def _approve(place, email, actor=PERSON):
    approving.approve(workspace_id=place.id, approval_id=case(email).approval.id, actor=actor)


SWITCHED_OFF = [_unbind, _bind_another, _switch_off, _leave_to_people]


@pytest.mark.parametrize("change", [*SWITCHED_OFF, _lower, _nothing])
def test_what_changed_at_the_inbox_since_the_approval_holds(db, change):
    """Who approved has seen the answer, so a lower autonomy stops nothing; what switches the agent off does."""
    place, email = _asked()
    _approve(place, email)
    change(place)
    work()
    assert _sent(place) == (change not in SWITCHED_OFF)
    work()
    assert _sent(place) == (change not in SWITCHED_OFF)
    done = case(email)
    if change in SWITCHED_OFF:
        assert (done.execution.status, done.intent.status, done.email.state) == ("needs_human", "blocked", "threaded")
        assert done.email.state_reason == done.intent.error != ""


@pytest.mark.parametrize("change", [*SWITCHED_OFF, _lower, _nothing])
def test_what_changed_at_the_inbox_since_the_decision_holds(db, monkeypatch, change):
    """The run was allowed to answer by itself, and the change comes right before the claim."""
    from agents.services import acting

    place = office(autonomy="autonomous")
    play()
    email = receive(place)
    real = acting.execute

    def late(run, intent_id):
        change(place)
        return real(run, intent_id)

    monkeypatch.setattr(acting, "execute", late)
    work()
    assert _sent(place) == (change is _nothing)
    if change is not _nothing:
        assert (case(email).intent.status, case(email).email.state) == ("blocked", "threaded")


@pytest.mark.parametrize("change", [*SWITCHED_OFF, _nothing])
def test_no_model_is_asked_for_an_inbox_that_was_switched_off_while_the_run_waited(db, change):
    place = office(autonomy="autonomous")
    asked = []
    play(asked.append)
    receive(place)
    change(place)
    work()
    assert bool(asked) == (change is _nothing)


def test_a_callers_words_that_a_person_approved_go_out_where_no_agent_works(db):
    for change, sent in ((_leave_to_people, 1), (_switch_off, 0)):
        place, email = waiting(name=f"of{change.__name__.replace('_', '-')}")
        Caller(place.id).post("replies/draft", {"email_id": str(email.id), "text": ANSWER})
        _approve(place, email)
        change(place)
        work()
        assert _sent(place) == sent


def _member(place):
    with in_workspace(place.id):
        return Membership.objects.get(user_id=PERSON.id)


def _suspend(place):
    leaving.suspend(workspace_id=place.id, membership_id=_member(place).id)


def _remove(place):
    leaving.remove(workspace_id=place.id, membership_id=_member(place).id)


def _take_the_role(place):
    with in_workspace(place.id):
        MembershipRole.objects.all().delete()


def _take_the_permission(place):
    with in_workspace(place.id):
        RolePermission.objects.filter(permission="approval.decide", role__is_system=False).delete()


def _deactivate(place):
    people.deactivate(user=User.objects.get(id=PERSON.id))


@pytest.mark.parametrize("change", [_suspend, _remove, _take_the_role, _take_the_permission, _deactivate, _nothing])
def test_an_approval_holds_as_long_as_its_person_may_approve(db, change):
    place, email = _asked()
    _approve(place, email)
    change(place)
    work()
    assert _sent(place) == (change is _nothing)
    done = case(email)
    if change is not _nothing:
        assert (done.execution.status, done.intent.status, done.email.state) == ("needs_human", "blocked", "threaded")
        assert done.email.state_reason == "Pat Person may no longer approve answers"
        assert done.approval.consumed_at is None


@pytest.mark.parametrize("shut_out", [True, False])
@pytest.mark.parametrize("kind", ["machine_key", "token", "tokens", "operator", "unknown"])
def test_an_approval_holds_as_long_as_its_credential(db, kind, shut_out):
    place, email = _asked()
    key, _ = keys.issue(workspace_id=place.id, name="Desk", scopes=["approval.decide"])
    operator = User.objects.create_user("op@people.test", is_staff=True, is_operator=True)
    ids = {"machine_key": key.id, "operator": operator.id}
    actor = Actor(kind=kind.rstrip("s"), id=str(ids.get(kind, "jti-1")), label="Desk")
    _approve(place, email, actor)
    if shut_out:
        _shut_out(place, kind, key, operator)
    work()
    assert _sent(place) == (not shut_out and kind != "unknown")


def _shut_out(place, kind, key, operator):
    if kind == "machine_key":
        keys.revoke(workspace_id=place.id, key_id=key.id)
    elif kind == "token":
        tokens.revoke(workspace_id=place.id, jti="jti-1")
    elif kind == "tokens":
        tokens.revoke_issued_before(workspace_id=place.id)
    elif kind == "operator":
        User.objects.filter(id=operator.id).update(is_operator=False)

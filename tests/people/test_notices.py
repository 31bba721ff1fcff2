"""Who is told by mail that something needs a person: those who may see to it, once each, and nobody else."""

import pytest

from kernel.transactions import in_workspace, unit_of_work
from tenancy.models import Membership, Notice, User
from tenancy.services import notices
from tenancy.types import MailState, MembershipStatus
from tests.console import seed
from tests.people.conftest import knock
from webhooks.models import Webhook
from webhooks.services import subscribing


@pytest.fixture
def broken(office) -> Webhook:
    """An endpoint of Acme that has failed for too long."""
    return subscribing.create(workspace_id=office.id, url="https://erp.example/hook", slugs=["email.*"])[0]


def switch_off(webhook: Webhook) -> None:
    with in_workspace(webhook.workspace_id):
        subscribing.disable_failing(webhook_id=webhook.id, reason="Every attempt of 5 days failed.")


def joined(office, email: str, *permissions: str) -> User:
    person = seed.person(email, name=email.partition("@")[0])
    seed.member(person, office.workspace, *permissions)
    return person


def test_an_endpoint_that_is_given_up_is_told_to_those_who_manage_webhooks(office, post, broken):
    reader = joined(office, "reader@acme.test", "webhook.read")
    manager = joined(office, "manager@acme.test", "webhook.manage")
    gone = joined(office, "gone@acme.test", "webhook.manage")
    with in_workspace(office.id):
        Membership.objects.filter(user=gone).update(status=MembershipStatus.SUSPENDED)
    switch_off(broken)
    switch_off(broken)
    letters = post.letters()
    assert sorted(letter["To"] for letter in letters) == sorted([office.ada.email, manager.email])
    assert reader.email not in str(letters)
    text = letters[0].get_body(("plain",)).get_content()
    assert "https://erp.example/hook gets no more events. Every attempt of 5 days failed." in text
    assert f"https://inbox.acme.test/console/webhooks/webhook/{broken.id}/change/" in text
    assert letters[0]["Auto-Submitted"] == "auto-generated"
    assert len(post.letters()) == 2, "told again"
    assert knock().get(f"/console/webhooks/webhook/{broken.id}/change/").status_code == 200


def test_who_switches_it_off_themselves_is_not_told(office, post, broken):
    subscribing.disable(workspace_id=office.id, webhook_id=broken.id)
    assert post.letters() == []


def test_who_leaves_before_the_letter_does_gets_none(office, post, broken):
    manager = joined(office, "manager@acme.test", "webhook.manage")
    switch_off(broken)
    with in_workspace(office.id):
        Membership.objects.filter(user=manager).update(status=MembershipStatus.SUSPENDED)
    assert [letter["To"] for letter in post.letters()] == [office.ada.email]
    with in_workspace(office.id):
        assert Notice.objects.get(membership__user=manager).mail_state == MailState.NONE


def test_nothing_is_told_of_what_is_taken_back(office, post, broken):
    with pytest.raises(RuntimeError, match="taken back"), unit_of_work():
        switch_off(broken)
        raise RuntimeError("taken back")
    assert post.letters() == []


def test_without_mail_to_staff_nothing_is_queued(office, broken):
    switch_off(broken)
    with in_workspace(office.id):
        assert not Notice.objects.exists()


def test_what_was_told_long_ago_is_forgotten(office, post, broken):
    switch_off(broken)
    assert notices.prune() == 0
    with in_workspace(office.id):
        Notice.objects.update(created_at="2020-01-01T00:00:00Z")
    assert notices.prune() == 1

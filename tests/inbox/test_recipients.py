"""Who gets a mail and who learns of whom (A12): inactive and deleted inboxes, unknown recipients, blind copies."""

import pytest

from inbox.models import Email, Entry, InboundMessage, Inbox
from inbox.services import inboxes
from kernel.context import ESTATE
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Workspace
from tenancy.services import describing
from tests.factories.world import deliver, house, mail
from tests.resources.nine import Caller, where_is


def _suspend(place) -> None:
    with in_all_workspaces("an operator suspends a workspace"):
        Workspace.objects.filter(id=place.id).update(status="suspended")


ENDS = {
    "inactive inbox": (
        lambda place: inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"active": False}),
        "ignored", "inactive_inbox",
    ),
    "suspended workspace": (_suspend, "ignored", "inactive_workspace"),
    "deleted workspace": (lambda place: describing.delete(workspace_id=place.id), "ignored", "inactive_workspace"),
    "deleted inbox": (
        lambda place: inboxes.delete(workspace_id=place.id, inbox_id=place.inbox.id), "quarantined", "unknown_recipient",
    ),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_mail_for_what_is_closed_is_kept_and_shows_nothing(db, cases, end):
    close, state, reason = ENDS[end]
    place = house()
    close(place)
    raw = mail(subject="Kept")
    deliver(raw)
    with in_workspace(place.id):
        message = InboundMessage.objects.get()
        assert bytes(message.raw) == raw
        assert not Entry.objects.exists()
        if state == "quarantined":
            assert (message.state, message.reason) == (state, reason)
            assert not Email.with_deleted.exists()
        else:
            assert Email.objects.values_list("state", "state_reason").get() == (state, reason)
        slugs = set(OutboxEvent.objects.filter(workspace_id=place.id).values_list("slug", flat=True))
        assert "email.received" not in slugs
    cases("A12", 1)


def test_an_inbox_that_is_deleted_between_acceptance_and_reading_shows_nothing(db, cases):
    from inbox.services import ingesting
    from tests.factories.world import hand_in

    place = house()
    hand_in(mail())
    inboxes.delete(workspace_id=place.id, inbox_id=place.inbox.id)
    ingesting.process_all()
    with in_workspace(place.id):
        assert Email.objects.values_list("state", "state_reason").get() == ("ignored", "deleted_inbox")
        assert not Entry.objects.exists()
    cases("A12", 1)


def test_unknown_recipients_go_to_the_quarantine_of_their_domain_or_of_the_estate(db, cases):
    place = house()
    deliver(mail(), "nobody@acme.test")
    deliver(mail(), "nobody@elsewhere.test")
    with in_workspace(place.id):
        assert list(InboundMessage.objects.values_list("reason", "recipients")) == [
            ("unknown_recipient", ["nobody@acme.test"])
        ]
    with in_workspace(ESTATE):
        assert list(InboundMessage.objects.values_list("reason", "recipients")) == [
            ("unclaimed_domain", ["nobody@elsewhere.test"])
        ]
    cases("A12", 2)


def test_five_recipients_of_three_workspaces_and_each_sees_its_own_only(db, cases):
    """All but one of them are blind copies: the header names nobody of the others."""
    places = {name: house(name) for name in ("acme", "globex", "initech")}
    inboxes.open_inbox(workspace_id=places["acme"].id, address="boss@acme.test")
    inboxes.open_inbox(workspace_id=places["globex"].id, address="legal@globex.test")
    recipients = [
        "support@acme.test",
        "boss@acme.test",
        "support@globex.test",
        "legal@globex.test",
        "support@initech.test",
    ]
    deliver(mail(to="support@acme.test"), *recipients)
    for name, place in places.items():
        own = sorted(address for address in recipients if address.endswith(f"@{name}.test"))
        others = set(recipients) - set(own) - {"support@acme.test"}
        with in_workspace(place.id):
            assert sorted(InboundMessage.objects.get().recipients) == own
            assert Email.objects.count() == len(own) == Inbox.objects.count()
        call = Caller(place.id)
        shown = "".join(
            call("GET", path).content.decode() for path in ("/emails", "/threads", "/system-events", "/inboxes")
        )
        for address in others:
            assert address not in shown, (name, address)
            assert where_is(place.id, address) == set(), (name, address)
    cases("A12", 5)


def test_a_blind_copy_within_a_workspace_is_not_told_to_the_other_inbox(db, cases):
    place = house()
    inboxes.open_inbox(workspace_id=place.id, address="boss@acme.test")
    deliver(mail(to="support@acme.test"), "support@acme.test", "boss@acme.test")
    with in_workspace(place.id):
        for email in Email.objects.select_related("inbox"):
            assert email.to == [{"name": "", "address": "support@acme.test"}]
            assert email.cc == []
    for row in Caller(place.id)("GET", "/emails").json()["data"]:
        assert "boss@acme.test" not in str(row)
    cases("A12", 1)


def test_a_reply_goes_to_the_sender_alone(db, cases):
    """Nobody else of the mail, in sight or blind, gets what the inbox answers."""
    from inbox.models import OutboundMessage
    from inbox.services import writing
    from kernel.context import Actor

    place = house()
    raw = mail(cc="carol@customer.test, dave@elsewhere.test", to="support@acme.test, eve@customer.test")
    (accepted,) = deliver(raw)
    writing.reply(workspace_id=place.id, email_id=accepted.email_id, text="Soon.", key="k", author=Actor("user", "1"))
    with in_workspace(place.id):
        sent = OutboundMessage.objects.get()
    assert sent.envelope_to == ["ada@customer.test"]
    assert all(name not in bytes(sent.raw) for name in (b"carol", b"dave", b"eve", b"Cc:", b"Bcc:"))
    cases("A12", 1)

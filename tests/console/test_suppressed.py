"""The delivery history of a message, and the person who allows mail to an address again."""

import pytest
from django.urls import reverse

from contacts.models import SuppressionEntry
from contacts.services import suppressing
from contacts.types import SuppressionReason
from inbox.models import Entry, EntryDeliveryEvent, EntryRecipient
from kernel import clock
from kernel.transactions import in_workspace
from tests.console import seed
from tests.console.conftest import signed_in

LIST = "/console/contacts/suppressionentry/"


@pytest.fixture
def row(world):
    with in_workspace(world.workspace.id):
        suppressing.suppress(
            workspace_id=world.workspace.id,
            address="nora@haddad.example",
            reason=SuppressionReason.BOUNCE,
            at=clock.now(),
            detail="550 <b>no such user</b>",
        )
        return SuppressionEntry.objects.get()


def lift(client, row, view="now"):
    return client.post(f"{LIST}?view={view}", {"action": "lift", "_selected_action": str(row.id)}, follow=True)


def is_lifted(world, row) -> bool:
    with in_workspace(world.workspace.id):
        return SuppressionEntry.objects.get(id=row.id).lifted_at is not None


def test_a_person_with_the_right_allows_mail_again(world, mika, kim, row):
    page = mika.get(LIST).content.decode()
    assert "nora@haddad.example" in page
    assert "550 &lt;b&gt;no such user" in page
    reader = seed.person("lea@lindgren.example", name="Lea Reader")
    seed.member(reader, world.workspace, "workspace.read", "contact.read")
    assert "nora@haddad.example" in signed_in(reader).get(LIST).content.decode()
    for client in (signed_in(reader), kim):
        lift(client, row)
        assert not is_lifted(world, row)
    assert "Mail to this address is sent again." in lift(mika, row).content.decode()
    assert is_lifted(world, row)
    with in_workspace(world.workspace.id):
        assert SuppressionEntry.objects.get().lifted_by == "Mika Lindgren"
    assert "was allowed again before" in lift(mika, row, "all").content.decode()


def test_a_conversation_shows_what_became_of_each_message(world, mika):
    thread = world.threads["lamp"]
    with in_workspace(world.workspace.id):
        entry = Entry.objects.filter(thread=thread, direction="outbound").order_by("-seq").first()
        entry = entry or seed.outbound(world, thread, "answer", at=clock.now())
        Entry.objects.filter(id=entry.id).update(delivery_state="bounced")
        who = {"address": "nora@haddad.example", "status": "5.1.1", "diagnostic": "550 <b>gone</b>"}
        EntryDeliveryEvent.objects.create(
            workspace_id=world.workspace.id,
            entry=entry,
            kind="bounced",
            provider_event_id="x",
            detail={"bounceType": "Permanent", "bounceSubType": "NoEmail", "recipients": [who]},
        )
        EntryRecipient.objects.create(
            workspace_id=world.workspace.id,
            entry=entry,
            address="nora@haddad.example",
            state="bounced",
            diagnostic="550 <b>gone</b>",
            at=clock.now(),
        )
    page = mika.get(reverse("admin:inbox_thread_change", args=[thread.id])).content.decode()
    for words in (
        "This message came back.",
        "permanent, noemail",
        "5.1.1: 550 &lt;b&gt;gone",
        "At nora@haddad.example",
    ):
        assert words in page
    assert "<b>gone" not in page
    assert "Came back" in mika.get("/console/inbox/outboundmessage/").content.decode()


def test_a_reply_to_a_suppressed_address_is_refused_while_it_is_written(world, mika, row):
    thread = world.threads["lamp"]
    with in_workspace(world.workspace.id):
        before = Entry.objects.filter(thread=thread).count()
        email_id = Entry.objects.filter(thread=thread, direction="inbound").latest("seq").email_id
    body = {"text": "It is on its way.", "email": str(email_id), "key": str(email_id)}
    page = mika.post(reverse("admin:thread_reply", args=[thread.id]), body, follow=True).content.decode()
    assert "address is suppressed (bounce)" in page
    assert "under Suppressed addresses" in page
    with in_workspace(world.workspace.id):
        assert Entry.objects.filter(thread=thread).count() == before

"""From raw bytes to an entry in a thread: once, in order, in the right place, whatever is handed in."""

import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from contacts.models import Contact, ContactProfile
from inbox.models import Email, Entry, InboundMessage, Thread
from inbox.types import EmailState, MessageState
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.factories.world import deliver, hand_in, house, mail


def test_a_mail_becomes_one_entry_in_a_new_thread(db):
    acme = house()
    deliver(mail(subject="Where is my order?"), provider_id="ses-1")
    with in_workspace(acme.id):
        email, entry, thread = Email.objects.get(), Entry.objects.get(), Thread.objects.get()
        assert (email.message_id, email.state, email.mail_class) == ("ses-1", EmailState.THREADED, "human")
        assert (entry.email_id, entry.thread_id, entry.direction) == (email.id, thread.id, "inbound")
        assert "4711" in entry.extracted_text
        assert thread.last_entry_seq == entry.seq
        assert thread.entry_count == 1
        assert thread.first_unanswered_inbound_at is not None
        assert ContactProfile.objects.get().display_name == "Ada"
        assert InboundMessage.objects.get().state == MessageState.DONE
        slugs = list(OutboxEvent.objects.filter(workspace_id=acme.id).order_by("id").values_list("slug", flat=True))
    assert slugs[-5:] == [
        "email.stored", "inbound_message.stored", "email.parsed", "thread.created", "email.received"
    ]  # fmt: skip


def test_a_redelivered_mail_changes_nothing(db):
    acme = house()
    raw = mail()
    deliver(raw, provider_id="ses-1")
    second = deliver(raw, provider_id="ses-1")
    assert [row.is_new for row in second] == [False]
    with in_workspace(acme.id):
        assert (Email.objects.count(), Entry.objects.count(), Thread.objects.get().entry_count) == (1, 1, 1)
        assert InboundMessage.objects.get().deliveries == 2


def test_many_deliveries_at_once_make_one_of_each(db):
    acme = house()
    raw = mail()
    barrier = threading.Barrier(16)

    def hand() -> None:
        barrier.wait()
        for _ in range(10):
            deliver(raw, provider_id="ses-1")
        connection.close()

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(hand) for _ in range(16)]:
            future.result()
    with in_workspace(acme.id):
        counts = (InboundMessage.objects.count(), Email.objects.count(), Entry.objects.count(), Thread.objects.count())
        assert counts == (1, 1, 1, 1)
        assert OutboxEvent.objects.filter(slug="email.received").count() == 1


def test_many_mails_of_a_new_sender_make_one_contact(db):
    acme = house()
    for number in range(40):
        hand_in(mail(subject=f"Question {number}"))

    def work() -> None:
        from inbox.services import ingesting

        ingesting.process_all()
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work) for _ in range(8)]:
            future.result()
    with in_workspace(acme.id):
        assert Entry.objects.count() == 40
        assert (Contact.objects.count(), ContactProfile.objects.count()) == (1, 1)


def test_a_reply_joins_the_thread_of_its_sender_and_a_strangers_does_not(db):
    acme = house()
    deliver(mail(message_id="<first@customer.test>"))
    deliver(mail(text="Any news?", in_reply_to="<first@customer.test>"))
    deliver(mail(sender="Eve <eve@elsewhere.test>", text="Me too", in_reply_to="<first@customer.test>"))
    with in_workspace(acme.id):
        threads = list(Thread.objects.order_by("last_entry_seq"))
        assert [thread.entry_count for thread in threads] == [2, 1]
        decisions = [entry.thread_decision for entry in Entry.objects.order_by("seq")]
    assert [decision["rule"] for decision in decisions] == ["new", "in_reply_to", "new"]
    assert "never took part" in decisions[2]["evidence"]["why"]


def test_a_second_copy_under_another_provider_id_is_ignored_as_a_duplicate(db):
    acme = house()
    raw = mail(message_id="<one@customer.test>")
    deliver(raw)
    deliver(b"Received: by a list\r\n" + raw)
    deliver(mail(message_id="<one@customer.test>", text="Other words under the same id"))
    with in_workspace(acme.id):
        states = list(Email.objects.order_by("created_at").values_list("state", "state_reason"))
        assert states == [("threaded", ""), ("ignored", "duplicate"), ("threaded", "")]
        assert Entry.objects.count() == 2


def test_one_mail_for_several_inboxes_and_workspaces_reaches_each_once(db):
    acme = house("acme")
    globex = house("globex")
    accepted = deliver(mail(to="support@acme.test, support@globex.test"), "support@acme.test", "support@globex.test")
    assert {row.workspace_id for row in accepted} == {acme.id, globex.id}
    for place, other in ((acme, globex), (globex, acme)):
        with in_workspace(place.id):
            assert Entry.objects.count() == 1
            recipients = InboundMessage.objects.get().recipients
            assert recipients == [place.inbox.address]
            assert other.inbox.address not in recipients


def test_unknown_recipients_are_kept_in_quarantine(db):
    acme = house()
    deliver(mail(), "nobody@acme.test")
    deliver(mail(), "someone@unclaimed.test")
    with in_workspace(acme.id):
        assert list(InboundMessage.objects.values_list("state", "reason")) == [("quarantined", "unknown_recipient")]
    with in_all_workspaces("the estate's own mail"):
        assert InboundMessage.objects.filter(reason="unclaimed_domain").count() == 1


def test_mail_to_an_inactive_inbox_is_stored_and_ignored(db):
    from inbox.services import inboxes

    acme = house()
    inboxes.change(workspace_id=acme.id, inbox_id=acme.inbox.id, changes={"active": False})
    deliver(mail())
    with in_workspace(acme.id):
        email = Email.objects.get()
        assert (email.state, email.state_reason) == ("ignored", "inactive_inbox")
        assert Entry.objects.count() == 0


def test_machine_mail_is_shown_and_ignored(db):
    acme = house()
    deliver(mail(auto_submitted="auto-replied", subject="Out of office"))
    with in_workspace(acme.id):
        email, thread = Email.objects.get(), Thread.objects.get()
        assert (email.state, email.state_reason, email.mail_class) == ("ignored", "auto_reply", "auto_reply")
        assert thread.first_unanswered_inbound_at is None


def test_a_late_mail_that_is_older_than_the_answer_opens_no_turn(db):
    from datetime import timedelta
    from email.utils import format_datetime

    from inbox.services import replying
    from inbox.types import OutboundKind
    from kernel import clock
    from kernel.context import Actor

    acme = house()
    first = deliver(mail(message_id="<a@customer.test>"))[0].email_id
    with in_workspace(acme.id):
        replying.queue_reply(
            email_id=first,
            text="Soon.",
            kind=OutboundKind.HUMAN,
            idempotency_key="k",
            automatic=False,
            author=Actor(kind="user", id="1"),
        )
    for minutes, waits in ((-10, False), (10, True)):
        when = format_datetime(clock.now() + timedelta(minutes=minutes))
        raw = mail(in_reply_to="<a@customer.test>").replace(b"Thu, 05 Nov 2026 09:00:00 +0000", when.encode())
        deliver(raw)
        with in_workspace(acme.id):
            assert (Thread.objects.get().first_unanswered_inbound_at is not None) == waits


def test_mail_to_a_suspended_workspace_is_kept_and_shows_nothing(db):
    from tenancy.models import Workspace

    acme = house()
    with in_all_workspaces("an operator suspends a workspace"):
        Workspace.objects.filter(id=acme.id).update(status="suspended")
    deliver(mail())
    with in_workspace(acme.id):
        email = Email.objects.get()
        assert (email.state, email.state_reason) == ("ignored", "inactive_workspace")
        assert Entry.objects.count() == 0
        assert bytes(InboundMessage.objects.get().raw)


def test_a_deleted_inbox_takes_no_mail_and_its_address_stays_taken(db):
    import pytest

    from inbox.models import Inbox
    from inbox.services import inboxes
    from inbox.services.inboxes import AddressTaken
    from kernel import clock

    acme = house()
    with in_workspace(acme.id):
        Inbox.objects.filter(id=acme.inbox.id).update(deleted_at=clock.now())
    deliver(mail())
    with in_workspace(acme.id):
        assert InboundMessage.objects.get().reason == "unknown_recipient"
    with pytest.raises(AddressTaken):
        inboxes.open_inbox(workspace_id=acme.id, address="Support@ACME.test")


def test_a_quarantined_mail_is_replayed_once_its_inbox_is_there(db):
    from inbox.services import inboxes, ingesting, quarantine

    acme = house()
    deliver(mail(to="sales@acme.test"), "sales@acme.test")
    with in_workspace(acme.id):
        message = InboundMessage.objects.get()
    inboxes.open_inbox(workspace_id=acme.id, address="sales@acme.test")
    quarantine.replay(workspace_id=acme.id, inbound_message_id=message.id)
    ingesting.process_all()
    with in_workspace(acme.id):
        assert Entry.objects.count() == 1
        assert set(InboundMessage.objects.values_list("state", flat=True)) == {"done"}


def test_a_conversation_that_arrives_at_once_is_one_thread_in_whatever_order(db, settings):
    """Two workers of four threads each, and mails that cite one another in the same batch."""
    from inbox.services import ingesting

    acme = house()
    settings.INGEST_THREADS = 4
    conversations, length = 12, 5
    for number in range(conversations):
        ids = [f"<{number}.{place}@customer.test>" for place in range(length)]
        for place in reversed(range(length)):
            cited = {"in_reply_to": ids[place - 1], "references": " ".join(ids[:place])} if place else {}
            hand_in(mail(sender=f"p{number}@customer.test", message_id=ids[place], **cited))

    def work(_: int) -> None:
        ingesting.process_all()
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    with in_workspace(acme.id):
        assert Entry.objects.count() == conversations * length
        assert sorted(Thread.objects.values_list("entry_count", flat=True)) == [length] * conversations


def test_filing_wakes_the_drain_so_that_nobody_waits_for_the_sweep(db):
    from kernel import nudge

    house()
    nudge.client().flushdb()
    nudge._forget()
    deliver(mail())
    assert nudge.client().exists("nudge:kernel.tasks.drain_outbox")
    assert nudge.client().exists("nudge:inbox.tasks.process_messages")

"""Mails that are filed in one transaction: cheap, and yet each for itself, in the order of its conversation."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from audit.queries import verify
from contacts.models import ContactProfile
from inbox.models import Email, Entry, InboundMessage, Thread
from inbox.services import ingesting
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Workspace
from tests.factories.world import deliver, hand_in, house, mail


def statements(count: int) -> list[str]:
    """What the database is asked while so many mails of as many strangers are filed."""
    for number in range(count):
        hand_in(mail(sender=f"s{count}-{number}@customer.test", subject=f"Question {number}"))
    with CaptureQueriesContext(connection) as found:
        assert ingesting.process_due() == count
    return [query["sql"] for query in found]


def test_many_mails_ask_the_database_as_often_as_one(db, settings):
    settings.INGEST_THREADS = 1
    acme = house()
    deliver(mail())
    one, several = statements(1), statements(12)
    assert len(several) == len(one) <= 10, several
    assert sum("inbox_prepare_v1(" in sql for sql in several) == 1
    assert sum("inbox_file_v1(" in sql for sql in several) == 1
    with in_workspace(acme.id):
        assert (Entry.objects.count(), Thread.objects.count()) == (14, 14)
        labels = sorted(ContactProfile.objects.values_list("label_no", flat=True))
        assert labels == list(range(1, 15))
        assert Workspace.objects.get().contact_seq == 14
        facts = list(OutboxEvent.objects.order_by("id").values_list("slug", flat=True))
        assert [slug for slug in facts if slug in ("email.parsed", "thread.created", "email.received")] == [
            "email.parsed",
            "thread.created",
            "email.received",
        ] * 14
        assert AuditEvent.objects.filter(action="email.file").count() == 14
    assert verify(workspace_id=acme.id).holds


def test_a_conversation_in_one_batch_is_filed_as_if_its_mails_had_come_one_by_one(db, settings):
    """Each answers the one before; two answer the same one; one cites a mail that only another of them cites."""
    settings.INGEST_THREADS = 1
    acme = house()
    hand_in(mail(message_id="<m0@customer.test>", subject="Begin"))
    for number in range(1, 8):
        hand_in(
            mail(
                message_id=f"<m{number}@customer.test>", in_reply_to=f"<m{number - 1}@customer.test>", text=f"{number}"
            )
        )
    hand_in(mail(message_id="<fork@customer.test>", in_reply_to="<m3@customer.test>", text="fork"))
    for name in ("a", "b"):
        hand_in(mail(message_id=f"<{name}@customer.test>", in_reply_to="<unknown@customer.test>", text=name))
    assert ingesting.process_due() == 11
    with in_workspace(acme.id):
        counts = sorted(Thread.objects.values_list("entry_count", flat=True))
        assert counts == [2, 9]
        for thread in Thread.objects.all():
            seqs = list(thread.entries.order_by("seq").values_list("seq", flat=True))
            assert (thread.entry_count, thread.last_entry_seq) == (len(seqs), seqs[-1])
        assert set(InboundMessage.objects.values_list("state", "attempts")) == {("done", 1)}
        assert ContactProfile.objects.count() == 1


def test_one_that_cannot_be_filed_stops_none_of_its_batch(db, settings):
    settings.INGEST_RETRY_SECONDS = 0
    acme, broken = house(), house("broken")
    with in_workspace(broken.id), connection.cursor() as cursor:
        cursor.execute("""UPDATE inbox_inbox SET policy = '{"version": 77}'""")
    hand_in(mail(to="support@broken.test"), "support@broken.test")
    for number in range(10):
        hand_in(mail(sender=f"p{number}@customer.test"))
    ingesting.process_all()
    with in_all_workspaces("looking in a test"):
        good = InboundMessage.objects.filter(workspace_id=acme.id)
        assert set(good.values_list("state", "attempts")) == {("done", 1)}
        bad = InboundMessage.objects.get(workspace_id=broken.id)
        assert (bad.state, bad.attempts) == ("quarantined", settings.INGEST_MAX_ATTEMPTS)
        assert "policy" in bad.reason
        assert Email.objects.get(workspace_id=broken.id).state == "quarantined"
        assert Entry.objects.count() == 10


def test_mails_of_several_workspaces_stay_in_their_own(db, settings):
    """One statement writes for all of them; each row, contact and line of audit is where its mail belongs."""
    settings.INGEST_THREADS = 1
    houses = [house(name) for name in ("acme", "bolt", "cove")]
    for place in houses:
        for number in range(3):
            address = place.inbox.address
            hand_in(mail(to=address, subject=f"{place.id} {number}", message_id=f"<{number}@customer.test>"), address)
    assert ingesting.process_due() == 9
    for place in houses:
        with in_workspace(place.id):
            assert {entry.subject.split()[0] for entry in Entry.objects.all()} == {str(place.id)}
            assert {thread.inbox_id for thread in Thread.objects.all()} == {place.inbox.id}
            assert (Entry.objects.count(), Thread.objects.count(), ContactProfile.objects.count()) == (3, 3, 1)
            assert AuditEvent.objects.filter(action="email.file").count() == 3
        assert verify(workspace_id=place.id).holds

"""An address that takes no mail, or whose owner complains, gets none, until a person allows it (CM-8)."""

from datetime import timedelta

import pytest

from contacts.models import SuppressionEntry
from contacts.services import suppressing
from inbox.models import EntryRecipient, OutboundMessage, Thread
from inbox.services import sending
from inbox.services.replying import RecipientSuppressed
from kernel import clock
from kernel.errors import Conflict, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import House, house
from tests.inbox.news import ADA, BOB, again, drain, news, send, tell, write


def suppressed(place: House, address: str = ADA) -> SuppressionEntry:
    with in_workspace(place.id):
        return SuppressionEntry.objects.get(value=address)


def test_a_suppressed_address_gets_no_mail_until_a_person_allows_it(db, topic, account):
    acme = house()
    first, second = send(acme), write(acme)
    tell(
        topic,
        news("Bounce", first.provider_ref, recipient={"status": "5.1.1", "diagnosticCode": "smtp; 550 no such user"}),
    )
    drain()
    row = suppressed(acme)
    assert (row.reason, row.times, row.detail) == ("bounce", 1, "smtp; 550 no such user")
    # What was queued before is stopped by the sender; what is written now is refused, and the writer told what to do.
    sending.send_due()
    second = again(second)
    assert (second.state, second.provider_ref, "suppressed (bounce)" in second.last_error) == ("failed", "", True)
    assert ADA not in second.last_error
    with in_workspace(acme.id):
        # Nobody was answered: the turn is open again.
        assert Thread.objects.get(id=again(second.entry).thread_id).first_unanswered_inbound_at is not None
    with pytest.raises(RecipientSuppressed, match=r"suppressed \(bounce\).*lift that") as refusal:
        write(acme)
    assert (refusal.value.status, ADA in refusal.value.detail) == (422, False)
    # Others are written to as before, beside the one who is not.
    third = write(acme, to=BOB)
    with in_workspace(acme.id):
        OutboundMessage.objects.filter(id=third.id).update(envelope_to=[ADA, BOB])
    sending.send_due()
    tell(topic, news("Delivery", again(third).provider_ref, BOB))
    drain()
    with in_workspace(acme.id):
        states = dict(EntryRecipient.objects.filter(entry_id=third.entry_id).values_list("address", "state"))
    assert (states, again(third.entry).delivery_state) == ({ADA: "failed", BOB: "delivered"}, "delivered")
    suppressing.lift(workspace_id=acme.id, suppression_id=row.id)
    assert send(acme).state == "sent"
    with pytest.raises(Conflict):
        suppressing.lift(workspace_id=acme.id, suppression_id=row.id)
    globex = house("globex")
    with pytest.raises(NotFound):
        suppressing.lift(workspace_id=globex.id, suppression_id=row.id)
    with in_workspace(acme.id):
        told = OutboxEvent.objects.filter(payload__suppression_id=str(row.id)).order_by("id")
        assert list(told.values_list("slug", flat=True)) == ["contact.suppressed", "contact.suppression_lifted"]


def test_old_news_does_not_undo_what_a_person_decided(db, topic, account):
    acme = house()
    messages = [send(acme) for _ in range(4)]
    before = clock.now() - timedelta(minutes=5)
    tell(topic, news("Bounce", messages[0].provider_ref, at=before))
    drain()
    suppressing.lift(workspace_id=acme.id, suppression_id=suppressed(acme).id)
    tell(topic, news("Complaint", messages[1].provider_ref, at=before))
    drain()
    row = suppressed(acme)
    assert (row.reason, row.times, row.lifted_at is None) == ("bounce", 2, False)
    later = clock.now() + timedelta(minutes=5)
    tell(topic, news("Complaint", messages[2].provider_ref, at=later))
    tell(topic, news("Bounce", messages[3].provider_ref, at=later))
    drain()
    row = suppressed(acme)
    # A complaint weighs more than a bounce, whichever comes last.
    assert (row.reason, row.times, row.lifted_at, row.lifted_by) == ("complaint", 4, None, "")


def test_an_address_rests_when_mail_comes_back_for_now_too_often(db, topic, account, settings):
    acme = house()
    settings.SOFT_BOUNCE_LIMIT = 3
    soft = {"bounceType": "Transient", "bounceSubType": "MailboxFull"}
    for number in range(3):
        with in_workspace(acme.id):
            assert not SuppressionEntry.objects.exists(), number
        message = send(acme)
        # News of one message counts once, however often it comes back.
        for feedback in ("a", "b"):
            tell(topic, news("Bounce", message.provider_ref, feedbackId=f"{number}{feedback}", **soft))
        drain()
    row = suppressed(acme)
    assert row.reason == "soft_bounce"
    assert timedelta(days=6) < row.expires_at - clock.now() <= timedelta(days=7)
    with pytest.raises(RecipientSuppressed, match="soft bounce"):
        write(acme)
    with in_workspace(acme.id):
        SuppressionEntry.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert send(acme).state == "sent"
